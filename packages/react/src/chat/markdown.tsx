/** @jsxImportSource react */
import { Lexer, type Token, type Tokens } from 'marked';
import { createElement, memo, type ReactNode, useContext, useEffect, useState } from 'react';
import { ChatContext, CopyButton } from './parts.tsx';

/** Markdown as elements. Markup in it is shown as the text that it is. A picture is a link: nothing is loaded. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const blocks = Lexer.lex(text, { gfm: true, breaks: true });
  return (
    <div className="baton-markdown">{blocks.map((block, key) => createElement(Block, { key, block }))}</div>
  );
});

/** A block that is the same is not rendered again: of a text that grows, the last one is. */
const Block = memo(
  ({ block }: { readonly block: Token }) => <div dir="auto">{elementOf(block, 0)}</div>,
  (before, after) => before.block.raw === after.block.raw,
);

const tags: Readonly<Record<string, string>> = {
  ...{ blockquote: 'blockquote', br: 'br', del: 'del', em: 'em', hr: 'hr', list_item: 'li' },
  ...{ paragraph: 'p', strong: 'strong' },
};

const entities: Readonly<Record<string, string>> = { amp: '&', gt: '>', lt: '<', nbsp: '\u00a0', quot: '"' };

function elementOf(token: Token, key: number): ReactNode {
  const { type } = token;
  const inside = 'tokens' in token ? token.tokens?.map(elementOf) : undefined;
  const tag = tags[type] ?? (type === 'heading' && `h${Math.min(6, token.depth + 1)}`);
  if (tag) return createElement(tag, { key }, inside);
  if (type === 'space' || type === 'def') return null;
  if (type === 'codespan') return <code key={key}>{(token as Tokens.Codespan).text}</code>;
  if (type === 'checkbox') return token.checked ? '☑ ' : '☐ ';
  if (type === 'code') return <Code key={key} text={token.text} language={token.lang ?? ''} />;
  if (type === 'table') return <Table key={key} table={token as Tokens.Table} />;
  if (type === 'list') {
    const { ordered, start, items } = token as Tokens.List;
    return createElement(ordered ? 'ol' : 'ul', { key, start: start || undefined }, items.map(elementOf));
  }
  if ((type === 'link' || type === 'image') && /^(https?|mailto):/i.test(token.href)) {
    const link = { key, href: token.href, target: '_blank', rel: 'noopener noreferrer nofollow' };
    return createElement('a', link, type === 'link' ? inside : (token as Tokens.Image).text || token.href);
  }
  return (
    inside ?? String((token as Tokens.Text).text).replaceAll(/&(\w+);/g, (all, name) => entities[name] ?? all)
  );
}

/** Code, coloured once it grows no more. */
function Code({ text, language }: { readonly text: string; readonly language: string }) {
  const { highlight } = useContext(ChatContext);
  const [coloured, setColoured] = useState<{ readonly text: string; readonly code: ReactNode }>();
  useEffect(() => {
    if (!highlight || !language) return;
    const show = async () => setColoured({ text, code: await highlight(text, language) });
    // Without its colours it is text.
    const timer = setTimeout(() => void show().catch(() => {}), 200);
    return () => clearTimeout(timer);
  }, [highlight, text, language]);
  return (
    <figure dir="ltr">
      <figcaption>
        {language} <CopyButton text={text} />
      </figcaption>
      {createElement('pre', { tabIndex: 0 }, (coloured?.text === text && coloured.code) || text)}
    </figure>
  );
}

function Table({ table: { header, rows } }: { readonly table: Tokens.Table }) {
  const row = (cells: readonly Tokens.TableCell[], key: number) => {
    const shown = cells.map(({ tokens, header, align }, key) =>
      createElement(header ? 'th' : 'td', { key, align: align ?? undefined }, tokens.map(elementOf)),
    );
    return <tr key={key}>{shown}</tr>;
  };
  const table = createElement('table', null, <thead>{row(header, 0)}</thead>, <tbody>{rows.map(row)}</tbody>);
  return createElement('div', { className: 'baton-table', tabIndex: 0 }, table);
}
