/** @jsxImportSource react */
import { parse } from 'sugar-high/core';
import { lang, languages } from 'sugar-high/lang';

/** Code in its colours. Loaded with the first code of a conversation. */
export function highlighted(code: string, name: string) {
  const language = languages.find(({ id }) => id === lang(name));
  return (
    language &&
    parse(code, language.config).lines.map(({ index, tokens }) => (
      <span key={index}>
        {tokens.map(({ type, value }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: tokens keep their places.
          <span key={at} data-token={type}>
            {value}
          </span>
        ))}
        {'\n'}
      </span>
    ))
  );
}
