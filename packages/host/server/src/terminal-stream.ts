// One attached terminal as an event stream: the screen first, then what is printed. A reader that falls behind gets a fresh screen, not a backlog.
import type { Terminal } from '@deepseek-ai/dsh-terminal'
import type { TerminalFrame } from './protocol.ts'
import { sseFrame, type SseWriter } from './sse.ts'

/** What may wait for a slow reader before it gets the screen anew, in UTF-16 units. */
const MOST_WAITING = 256 * 1024

/** Resolves when the reader has gone or the terminal has ended. Never rejects. */
export async function streamTerminal(terminal: Terminal, writer: SseWriter): Promise<void> {
  let waiting = ''
  let fresh = true
  let exited = terminal.row.status.kind === 'exited'
  let wake: (() => void) | undefined
  const woken = (): void => {
    wake?.()
    wake = undefined
  }
  const leave = [
    terminal.onData((data) => {
      if (fresh) return
      waiting += data
      if (waiting.length > MOST_WAITING) {
        waiting = ''
        fresh = true
      }
      woken()
    }),
    terminal.onExit(() => {
      exited = true
      woken()
    }),
  ]
  writer.whenClosed(woken)
  while (!writer.closed) {
    if (fresh) {
      fresh = false
      const { cols, rows } = terminal.row
      send(writer, { kind: 'screen', data: terminal.snapshot(), cols, rows })
    } else if (waiting !== '') {
      const data = waiting
      waiting = ''
      send(writer, { kind: 'data', data })
    } else if (exited) {
      send(writer, { kind: 'exit', row: terminal.row })
      writer.end()
      break
    }
    await writer.drained()
    if (!fresh && waiting === '' && !exited && !writer.closed) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  leave.forEach((each) => each())
}

function send(writer: SseWriter, frame: TerminalFrame): void {
  writer.write(sseFrame(frame.kind, JSON.stringify(frame)))
}
