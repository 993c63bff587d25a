// Markdown to React elements through marked's lexer. There is no HTML path: what a model writes can only become text and these elements.
import { lexer, type Token, type Tokens } from 'marked'
import remend from 'remend'
import { memo, useMemo, type ReactNode } from 'react'
import { CodeBlock } from './code.tsx'
import { decodeEntities, safeHref } from './text.ts'

export function Markdown({ text, live }: { text: string; live: boolean }) {
  const blocks = useMemo(() => {
    const source = live ? remend(text, { linkMode: 'text-only', katex: false }) : text
    return lexer(source, { gfm: true, breaks: true }).filter((token) => token.type !== 'space' && token.type !== 'def')
  }, [text, live])
  return (
    <div className={live ? 'prose caret-last' : 'prose'}>
      {blocks.map((token, index) => (
        <Block key={index} token={token} complete={!live || index < blocks.length - 1} />
      ))}
    </div>
  )
}

/** While text streams in, only the last block changes: the others are not rendered again. */
const Block = memo(
  ({ token, complete }: { token: Token; complete: boolean }) => block(token, complete),
  (before, after) => before.token.raw === after.token.raw && before.complete === after.complete,
)

function blocks(tokens: readonly Token[] | undefined, complete: boolean): ReactNode[] {
  return (tokens ?? []).map((token, index) => <Nested key={index} token={token} complete={complete} />)
}
const Nested = ({ token, complete }: { token: Token; complete: boolean }) => block(token, complete)

function block(token: Tokens.Generic, complete: boolean): ReactNode {
  switch (token.type) {
    case 'heading': {
      const Tag = `h${Math.min(6, (token as Tokens.Heading).depth)}` as 'h1'
      return <Tag>{inline(token.tokens)}</Tag>
    }
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>
    case 'code': {
      const { text, lang } = token as Tokens.Code
      return <CodeBlock code={text} language={(lang ?? '').split(/\s/)[0] ?? ''} complete={complete} />
    }
    case 'blockquote':
      return <blockquote>{blocks(token.tokens, complete)}</blockquote>
    case 'list':
      return list(token as Tokens.List, complete)
    case 'table':
      return table(token as Tokens.Table)
    case 'hr':
      return <hr />
    case 'space':
    case 'def':
      return null
    case 'html':
      return <p>{token.raw.trim()}</p>
    default:
      return inlineOne(token, 0)
  }
}

function list(token: Tokens.List, complete: boolean): ReactNode {
  const items = token.items.map((item, index) => (
    <li key={index} className={item.task ? 'task' : undefined}>
      {item.task && <input type="checkbox" disabled checked={item.checked === true} readOnly className="mr-2" />}
      {blocks(
        item.tokens.filter((part) => part.type !== 'checkbox'),
        complete,
      )}
    </li>
  ))
  return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>
}

function table(token: Tokens.Table): ReactNode {
  const align = (index: number) => ({ textAlign: token.align[index] ?? 'left' }) as const
  return (
    <div className="table" tabIndex={0} role="region" aria-label="table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index} style={align(index)}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, index) => (
                <td key={index} style={align(index)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inline(tokens: readonly Token[] | undefined): ReactNode[] {
  return (tokens ?? []).map((token, index) => inlineOne(token as Tokens.Generic, index))
}

function inlineOne(token: Tokens.Generic, key: number): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong key={key}>{inline(token.tokens)}</strong>
    case 'em':
      return <em key={key}>{inline(token.tokens)}</em>
    case 'del':
      return <del key={key}>{inline(token.tokens)}</del>
    case 'codespan':
      return <code key={key}>{String(token['text'])}</code>
    case 'br':
      return <br key={key} />
    case 'link': {
      const href = safeHref(String(token['href']))
      if (href === undefined) return <span key={key}>{inline(token.tokens)}</span>
      return (
        <a key={key} href={href} rel="noreferrer" {...(href.startsWith('#') ? {} : { target: '_blank' })}>
          {inline(token.tokens)}
        </a>
      )
    }
    case 'image':
      // A remote image would tell its server what the model read, so it is never loaded.
      return <span key={key}>[{decodeEntities(String(token['text'])) || 'image'}]</span>
    case 'escape':
      return String(token['text'])
    case 'html':
    case 'tag':
      return token.raw
    case 'checkbox':
      return null
    default:
      return token.tokens ? (
        <span key={key}>{inline(token.tokens)}</span>
      ) : (
        decodeEntities(String(token['text'] ?? token.raw))
      )
  }
}
