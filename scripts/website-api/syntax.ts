// What the syntax tree says of declarations and members: which are public, how they are written, what their docstrings are.
import {
  isClassDeclaration,
  isGetAccessorDeclaration,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isMethodSignatureDeclaration,
  isModuleDeclaration,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isStringLiteral,
  isTypeAliasDeclaration,
  SyntaxKind,
  type ClassDeclaration,
  type InterfaceDeclaration,
  type Node,
  type SourceFile,
  type TypeAliasDeclaration,
} from 'typescript/unstable/ast'
import { firstSentence, NO_DOCSTRING, parseDocstring, type Docstring } from './docstring.ts'

export type Declaration = ClassDeclaration | InterfaceDeclaration | TypeAliasDeclaration

const FACADE = '@deepseek-ai/cordis'

export function isDeclaration(node: Node): node is Declaration {
  return isClassDeclaration(node) || isInterfaceDeclaration(node) || isTypeAliasDeclaration(node)
}

export function isAugmentation(node: Node): boolean {
  return isModuleDeclaration(node) && isStringLiteral(node.name) && node.name.text === FACADE
}

export function interfacesIn(module: Node): InterfaceDeclaration[] {
  const found: InterfaceDeclaration[] = []
  const visit = (node: Node): void => {
    if (isInterfaceDeclaration(node)) found.push(node)
    else node.forEachChild(visit)
  }
  module.forEachChild(visit)
  return found
}

export function isExported(declaration: Declaration): boolean {
  return hasModifier(declaration, SyntaxKind.ExportKeyword)
}

export function isPublicMember(node: Node): boolean {
  const known =
    isMethodDeclaration(node) ||
    isMethodSignatureDeclaration(node) ||
    isPropertyDeclaration(node) ||
    isPropertySignatureDeclaration(node) ||
    isGetAccessorDeclaration(node)
  if (!known) return false
  const hidden = [SyntaxKind.PrivateKeyword, SyntaxKind.ProtectedKeyword, SyntaxKind.StaticKeyword]
  return !hidden.some((kind) => hasModifier(node, kind)) && !/@internal\b/.test(commentOf(node))
}

export function hasModifier(node: Node, kind: SyntaxKind): boolean {
  const { modifiers } = node as { modifiers?: Iterable<Node> }
  return modifiers !== undefined && [...modifiers].some((modifier) => modifier.kind === kind)
}

export function isBody(node: Node): boolean {
  return node.kind === SyntaxKind.Block
}

export function signatureOf(member: Node): string {
  const source = member.getSourceFile()
  const { name, body, initializer } = member as { name?: Node; body?: Node; initializer?: Node }
  const start = name?.getStart(source) ?? member.getStart(source)
  const end = body?.pos ?? (initializer === undefined ? member.end : initializer.pos)
  const text = dedent(source.text.slice(start, end).replace(/\s*[=,;]?\s*$/, ''))
  return isGetAccessorDeclaration(member) ? text.replace('()', '') : text
}

/** The first line has lost its indentation already; the others lose that of the last. */
export function dedent(text: string): string {
  const indent = /^ */.exec(text.split('\n').at(-1) ?? '')?.[0] ?? ''
  return text.replaceAll(`\n${indent}`, '\n')
}

export function textOf(node: Node): string {
  return node.getText(node.getSourceFile())
}

export function docOf(node: Node): Docstring {
  const comment = commentOf(node)
  return comment === '' ? NO_DOCSTRING : parseDocstring(comment)
}

/** The first sentence of the comment that a file opens with. */
export function headerOf(source: SourceFile): string {
  const lines = /^(\/\/ .*\n)+/.exec(source.text)?.[0] ?? ''
  return firstSentence(
    lines
      .replaceAll(/^\/\/ /gm, '')
      .replaceAll('\n', ' ')
      .trim(),
  )
}

export function commentOf(node: Node): string {
  const comment = node.jsDoc?.at(-1)
  if (comment === undefined) return ''
  // What is before the first comment of a file belongs to that node too.
  const text = node.getSourceFile().text.slice(0, comment.end)
  return text.slice(text.lastIndexOf('/**'))
}
