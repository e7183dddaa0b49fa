import type { Explanation } from './explanation.ts';

/** Those of AG-UI and React. */
export const explanationsOfFrontEnds: readonly Explanation[] = [
  {
    file: 'packages/ag-ui/src/run.ts',
    line: '...(state !== undefined && { state }),',
    replacements: ['true'],
    why: 'The same: a member that is undefined is not sent.',
  },
  {
    file: 'packages/react/src/form/json-schema.ts',
    line: "const [type, ...others] = [schema.type ?? []].flat().filter((each) => each !== 'null');",
    replacements: ['["Stryker was here"]'],
    why: 'The same: a type that no form knows is shown as JSON, as no type is.',
  },
];
