import { section } from '../check.ts';

export const propertyChecks = section('any sequence of commands', {});
