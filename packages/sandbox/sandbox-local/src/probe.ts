// Tries on canaries what the runner promises, with the very argv that commands get. It judges a shape of policies; making argv is not done here.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfineRequest, ConfinedCommand, SandboxPolicy } from '@deepseek-ai/dsh-sandbox'

/** What two policies must have in common for one probe to hold for both. */
export type ProbeShape = Pick<SandboxPolicy, 'mode' | 'network' | 'nestedNamespaces' | 'unixSockets'>

export interface ProbeWorld {
  /** A folder to make the scratch folder in: outside everything that a runner hides or replaces. */
  readonly parent: string
  readonly tempDir: string
  /** Linux shows capabilities, the filter and interfaces in /proc. */
  readonly hasProc: boolean
  confine(request: ConfineRequest): ConfinedCommand
}

const TIMEOUT_MS = 20_000
/** No program but the shell: a machine's tools may be anywhere. */
const SCRIPT = `
(echo out > "$1/outside/canary") 2>/dev/null
(echo in > "$1/root/inside") 2>/dev/null
(echo hook > "$1/root/.git/hooks/post-commit") 2>/dev/null
(echo temp > "$TMPDIR/probe") 2>/dev/null
(read -r line < "$1/secret/key" && echo "secret $line") 2>/dev/null
[ -r /proc/self/status ] && while read -r line; do echo "$line"; done < /proc/self/status
[ -r /proc/self/net/dev ] && while read -r line; do echo "net $line"; done < /proc/self/net/dev
echo done
`

/** Undefined when everything held; otherwise what did not, or what the runner said. */
export async function probe(shape: ProbeShape, world: ProbeWorld): Promise<string | undefined> {
  const scratch = realpathSync(mkdtempSync(join(world.parent, 'dsh-probe-')))
  try {
    for (const folder of ['outside', 'secret', 'root/.git/hooks']) mkdirSync(join(scratch, folder), { recursive: true })
    for (const file of ['outside/canary', 'secret/key', 'root/.git/HEAD', 'root/.git/config']) {
      writeFileSync(join(scratch, file), 'before')
    }
    const policy: SandboxPolicy = {
      ...shape,
      allowedHosts: [],
      root: join(scratch, 'root'),
      writableRoots: [],
      deniedReads: [join(scratch, 'secret')],
      tempDir: world.tempDir,
      sessionId: 'probe',
    }
    const argv = ['/bin/sh', '-c', SCRIPT, 'probe', scratch] as const
    const ran = await run(
      world.confine({ argv: [...argv], workdir: policy.root, env: { PATH: '/usr/bin:/bin' }, policy }),
    )
    return ran.failure ?? verdict(shape, scratch, ran.stdout, world)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function verdict(shape: ProbeShape, scratch: string, stdout: string, world: ProbeWorld): string | undefined {
  const lines = stdout.split('\n')
  const held = (file: string): boolean => textOf(join(scratch, file)) === 'before'
  const failures: [failed: boolean, what: string][] = [[!lines.includes('done'), 'the probe did not run to its end']]
  if (shape.mode !== 'danger-full-access') {
    failures.push(
      [!held('outside/canary'), 'a file outside the workspace was written'],
      [lines.some((line) => line.startsWith('secret')), 'a file that may not be read was read'],
      [existsSync(join(scratch, 'root/.git/hooks/post-commit')), 'a git hook was written'],
      [
        existsSync(join(scratch, 'root/inside')) !== (shape.mode === 'workspace-write'),
        'the workspace is not as writable as the mode says',
      ],
      [textOf(join(world.tempDir, 'probe')) === undefined, 'the temp folder is not writable'],
    )
    if (world.hasProc) {
      failures.push(
        [!lines.some((line) => /^CapEff:\s*0+$/.test(line)), 'the command has capabilities'],
        [!lines.some((line) => /^Seccomp:\s*2$/.test(line)), 'no system call filter is in force'],
      )
    }
  }
  if (world.hasProc && shape.network !== 'open') {
    const interfaces = lines.flatMap((line) => /^net ([^:\s]+):/.exec(line)?.[1] ?? [])
    failures.push([
      interfaces.join() !== 'lo',
      `the command sees the network interfaces ${interfaces.join(', ') || '(none)'}`,
    ])
  }
  return failures.find(([failed]) => failed)?.[1]
}

function run(command: ConfinedCommand): Promise<{ stdout: string; failure?: string }> {
  return new Promise((resolve) => {
    const [file, ...args] = command.argv
    const child = spawn(file, args, { env: command.env, stdio: ['ignore', 'pipe', 'pipe', ...command.extraStdio] })
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
    let stdout = ''
    let stderr = ''
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4000)))
    command.observe(child.stdio.slice(3) as (NodeJS.ReadableStream | null)[])
    const end = (failure?: string): void => {
      clearTimeout(timer)
      command.release()
      resolve({ stdout, ...(failure === undefined ? {} : { failure }) })
    }
    child.once('error', (error) => end(error.message))
    child.once('close', (code, signal) =>
      end(code === 0 ? undefined : stderr.trim() || `the runner ended with ${signal ?? code}`),
    )
  })
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
