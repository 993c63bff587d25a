// Rows: what is kept of output, how it is decoded and where it is cut.
import assert from 'node:assert/strict'
import type { ShellTest } from './suite.ts'

const LIMIT = 65_536

export function outputRows(test: ShellTest): void {
  test('keeps the streams apart', async ({ run }) => {
    const { stdout, stderr } = await run('echo out; echo err >&2')
    assert.deepEqual([stdout.text, stderr.text], ['out\n', 'err\n'])
  })

  test('keeps output of exactly the limit whole', async ({ run }) => {
    const { stdout } = await run(`head -c ${LIMIT} /dev/zero | tr '\\0' x`)
    assert.deepEqual(stdout, { text: 'x'.repeat(LIMIT), truncated: false, totalBytes: LIMIT })
  })

  test('says what is missing as soon as one byte is over the limit', async ({ run }) => {
    const { stdout } = await run(`head -c ${LIMIT + 1} /dev/zero | tr '\\0' x`)
    const half = 'x'.repeat(LIMIT / 2)
    assert.deepEqual(stdout, { text: `${half}\n[1 bytes omitted]\n${half}`, truncated: true, totalBytes: LIMIT + 1 })
  })

  test('keeps head and tail of 100,000 lines', async ({ run }) => {
    const { stdout } = await run('seq 1 100000')
    assert.equal(stdout.totalBytes, 588_895)
    assert.ok(stdout.text.startsWith('1\n2\n3\n'))
    assert.ok(stdout.text.endsWith('99999\n100000\n'))
    const missing = Number(/^\[(\d+) bytes omitted\]$/m.exec(stdout.text)?.[1])
    assert.equal(missing, stdout.totalBytes - LIMIT)
  })

  test('takes a line of 10 MB', async ({ run }) => {
    const { stdout, exitCode } = await run(`head -c 10000000 /dev/zero | tr '\\0' y; echo end`)
    assert.equal(exitCode, 0)
    assert.equal(stdout.totalBytes, 10_000_004)
    assert.ok(stdout.text.endsWith('yyyend\n'))
    assert.ok(stdout.text.length < LIMIT + 100)
  })

  test('cuts between code points', async ({ run }) => {
    // One byte in front, so that neither half of the limit falls on a border of the four-byte characters.
    const { stdout } = await run(`printf a; yes 😀 | head -n 50000 | tr -d '\\n'; printf b`)
    assert.equal(stdout.truncated, true)
    assert.doesNotMatch(stdout.text, /\uFFFD/)
    assert.doesNotMatch(stdout.text, /\p{Cs}/u)
    const missing = Number(/\[(\d+) bytes omitted\]/.exec(stdout.text)?.[1])
    const kept = Buffer.byteLength(stdout.text.replace(/\n\[\d+ bytes omitted\]\n/, ''))
    assert.equal(kept + missing, stdout.totalBytes)
  })

  test('puts a character together that arrives in two pieces', async ({ run }) => {
    const heard: string[] = []
    const result = await run(`printf '\\xf0\\x9f'; sleep 0.1; printf '\\x98\\x80'`, {
      onOutput: ({ text }) => heard.push(text),
    })
    assert.equal(result.stdout.text, '😀')
    assert.equal(heard.join(''), '😀')
  })

  test('shows invalid UTF-8 as U+FFFD and keeps NULs', async ({ run }) => {
    const { stdout } = await run(`printf 'a\\xffb\\0c\\xc3'`)
    assert.equal(stdout.text, 'a\uFFFDb\0c\uFFFD')
    assert.equal(stdout.totalBytes, 6)
  })

  test('reports output live, in order, before the command ends', async ({ run }) => {
    const controller = new AbortController()
    const heard: string[] = []
    const result = await run('echo one; echo two >&2; sleep 30', {
      signal: controller.signal,
      onOutput: ({ stream, text }) => {
        heard.push(`${stream}:${text}`)
        if (stream === 'stderr') controller.abort()
      },
    })
    assert.equal(result.aborted, true)
    assert.deepEqual(heard.toSorted(), ['stderr:two\n', 'stdout:one\n'])
  })

  test('keeps the end of the output of a command that is killed', async ({ run }) => {
    const { stdout } = await run('seq 1 100000; echo last words; kill -KILL $$')
    assert.ok(stdout.text.endsWith('last words\n'))
  })
}
