// The words of the command line: commands, flags, help. Each command's work is imported when it is asked for.
import { Command, InvalidArgumentError, Option } from 'commander'
import type { CheckFlags } from './commands/check.ts'
import type { NewToolFlags } from './commands/new-tool.ts'
import type { ExitCode } from './exit.ts'
import type { HostFlags } from './host.ts'
import { ownVersion } from './own-files.ts'

const HELP_FOOTER = `

Exit codes: 0 done, 1 failed, 2 usage, 3 refused, 4 model provider failed, 130 interrupted.
Environment: DSH_HOME (default ~/.dsh), DSH_MODEL, DSH_TOOLS_MODE (native, code or both), DSH_PERMISSION
  (read-only, workspace-write or danger-full-access), DSH_NETWORK (none, allowlist or open), DEEPSEEK_API_KEY,
  DEEPSEEK_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL.`

export interface WebFlags extends HostFlags {
  port?: number
  open: boolean
  watch: boolean
}

export interface OutputFlags extends HostFlags {
  json?: boolean
}

/** Builds the command tree. `exit` is told the exit code of a command that ended without throwing. */
export function createProgram(exit: (code: ExitCode) => void): Command {
  const program = new Command('dsh')
    .description('Run agents and their tools: in the browser, from a script, or one call at a time.')
    .version(ownVersion(), '-V, --version')
    .showHelpAfterError('(dsh --help shows the commands, dsh <command> --help their flags)')
    .addHelpText(
      'after',
      examples(
        'dsh web',
        `dsh run 'Use the bash tool to run "uname -a"'`,
        'dsh tools list',
        'dsh config dump',
        'dsh doctor',
      ) + HELP_FOOTER,
    )
    .exitOverride()
  addWeb(program, exit)
  addRun(program, exit)
  addCall(program, exit)
  addTools(program, exit)
  addConfig(program, exit)
  addDoctor(program, exit)
  addNew(program, exit)
  addReplay(program, exit)
  return program
}

function addWeb(program: Command, exit: (code: ExitCode) => void): void {
  hostFlags(program.command('web'), 'web')
    .description('serve the page on this machine and open it in the browser')
    .option('--port <number>', 'port to listen on, 0 for any free one (default: 3080)', port)
    .option('--no-open', 'print the address without opening a browser')
    .option('--no-watch', 'do not take over changes of plugins and composition files while it runs')
    .addHelpText('after', examples('dsh web', 'dsh web --port 0 --no-open', 'dsh web --patch ./cordis.yml'))
    .action(async (flags: WebFlags) => exit(await (await import('./commands/web.ts')).web(flags)))
}

function addRun(program: Command, exit: (code: ExitCode) => void): void {
  hostFlags(program.command('run'), 'headless')
    .description('give an agent one task and print its last answer')
    .argument('[task]', 'what to do; "-" or nothing reads it from standard input')
    .option('--json', 'print answer, outcome, calls and token use as JSON')
    .addHelpText(
      'after',
      examples(
        `dsh run 'Use the bash tool to run "uname -a"'`,
        'git diff | dsh run -',
        'dsh run "List the files" --json',
      ),
    )
    .action(async (task: string | undefined, flags: OutputFlags) =>
      exit(await (await import('./commands/run.ts')).run(task, flags)),
    )
}

function addCall(program: Command, exit: (code: ExitCode) => void): void {
  hostFlags(program.command('call'), 'headless')
    .description('call one tool, without any model')
    .argument('<tool>', 'name of the tool')
    .argument('[arguments]', 'its arguments as a JSON object; "-" reads them from standard input (default: {})')
    .option('--json', 'print the canonical value instead of the rendered text')
    .addHelpText(
      'after',
      examples(
        `dsh call bash '{"command":"uname -a","description":"Show the system"}'`,
        `dsh call greet '{"name":"Ada"}' --patch ./scratch-plugin/cordis.yml --json`,
      ),
    )
    .action(async (tool: string, args: string | undefined, flags: OutputFlags) =>
      exit(await (await import('./commands/call.ts')).call(tool, args, flags)),
    )
}

function addTools(program: Command, exit: (code: ExitCode) => void): void {
  const tools = program
    .command('tools')
    .description('look at the tools of a composition')
    .addHelpText('after', examples('dsh tools list', 'dsh tools show bash', 'dsh tools list --patch ./cordis.yml'))
  hostFlags(tools.command('list', { isDefault: true }), 'headless')
    .description('list the tools')
    .option('--json', 'print name, description and parameters of each as JSON')
    .addHelpText('after', examples('dsh tools list', 'dsh tools list --json --patch ./cordis.yml'))
    .action(async (flags: OutputFlags) => exit(await (await import('./commands/tools.ts')).listTools(flags)))
  hostFlags(tools.command('show'), 'headless')
    .description('print what a model is told of one tool, and the schema of its value')
    .argument('<tool>', 'name of the tool')
    .addHelpText('after', examples('dsh tools show bash'))
    .action(async (tool: string, flags: HostFlags) =>
      exit(await (await import('./commands/tools.ts')).showTool(tool, flags)),
    )
  hostFlags(tools.command('check'), 'headless')
    .description('hold the tools of one plugin module to the contract of tools, with no model')
    .argument('<module>', 'path or package of the plugin')
    .option('--args <json>', 'known-good arguments of the only tool, to run it with; repeat for more', collect, [])
    .option('--samples <file>', 'JSON file with known-good arguments by tool: {"tool": [{…}, …]}')
    .option(
      '--generate',
      'also run the tools with arguments made up from their schemas: only for tools that may do anything',
    )
    .option('--seed <number>', 'makes up other arguments (default: 1)', wholeNumber)
    .option('--json', 'print the reports as JSON')
    .addHelpText(
      'after',
      examples(
        'dsh tools check ./src/my-plugin.ts --generate',
        `dsh tools check @deepseek-ai/dsh-tool-bash --args '{"command":"true","description":"Do nothing"}'`,
      ),
    )
    .action(async (module: string, flags: CheckFlags) =>
      exit(await (await import('./commands/check.ts')).checkTools(module, flags)),
    )
}

function addConfig(program: Command, exit: (code: ExitCode) => void): void {
  const config = program
    .command('config')
    .description('look at compositions')
    .addHelpText('after', examples('dsh config dump', 'dsh config dump --preset headless', 'dsh config explain shell'))
  hostFlags(config.command('dump'), 'web')
    .description('print exactly what would boot, as one YAML document')
    .addHelpText('after', examples('dsh config dump', 'dsh config dump --preset headless --patch ./cordis.yml'))
    .action(async (flags: HostFlags) => exit(await (await import('./commands/config.ts')).dumpConfig(flags)))
  hostFlags(config.command('explain'), 'web')
    .description('say which file and line set what of a row')
    .argument('<row>', 'id of the row')
    .addHelpText('after', examples('dsh config explain sandbox-policy', 'dsh config explain llm --model offline'))
    .action(async (row: string, flags: HostFlags) =>
      exit(await (await import('./commands/config.ts')).explainConfig(row, flags)),
    )
}

function addDoctor(program: Command, exit: (code: ExitCode) => void): void {
  hostFlags(program.command('doctor'), 'web')
    .description('say what works on this machine, what does not, and what to do about it')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', examples('dsh doctor', 'dsh doctor --permission read-only'))
    .action(async (flags: OutputFlags) => exit(await (await import('./commands/doctor.ts')).doctor(flags)))
}

function addNew(program: Command, exit: (code: ExitCode) => void): void {
  const made = program
    .command('new')
    .description('start something of your own')
    .addHelpText('after', examples('dsh new tool word-count'))
  made
    .command('tool')
    .description('make a package with one working tool, its card and its test')
    .argument('<name>', 'name of the tool, e.g. word-count')
    .option('--folder <path>', 'where to put it (default: a folder of that name)')
    .option('--package <name>', 'name of the package (default: dsh-tool-<name>)')
    .option('--description <text>', 'what the package is for')
    .addHelpText('after', examples('dsh new tool word-count', 'dsh new tool word-count --package @me/dsh-words'))
    .action(async (name: string, flags: NewToolFlags) =>
      exit(await (await import('./commands/new-tool.ts')).newTool(name, flags)),
    )
}

function addReplay(program: Command, exit: (code: ExitCode) => void): void {
  hostFlags(program.command('replay'), 'headless')
    .description('print a stored session from its log; without a name list them, newest first')
    .argument('[session]', 'id of a session, or a log file')
    .option('--json', 'print each event with the view of its card, a line each')
    .addHelpText(
      'after',
      examples('dsh replay', 'dsh replay 20260131-101500-1a2b3c4d', 'dsh replay ./log.jsonl --json'),
    )
    .action(async (session: string | undefined, flags: OutputFlags) =>
      exit(await (await import('./commands/replay.ts')).replay(session, flags)),
    )
}

function hostFlags(command: Command, preset: string): Command {
  return command
    .option('--patch <file>', 'add or change plugins with this file; repeat for more, later ones win', collect, [])
    .addOption(
      new Option(
        '--preset <name>',
        'composition to start from: a shipped one or a file in presets/ of the home folder',
      ).default(preset),
    )
    .option('--cwd <folder>', 'folder to work in (default: the current one)')
    .addOption(
      new Option('--permission <mode>', 'what commands and file tools may do (default: workspace-write)').choices([
        'read-only',
        'workspace-write',
        'danger-full-access',
      ]),
    )
    .option('--model <name>', 'model to use, as provider/model, model or provider')
    .option('--ready-timeout <ms>', 'how long a plugin may take to start (default: 10000)', milliseconds)
    .addOption(
      new Option('--log <level>', 'what to print of the log')
        .choices(['error', 'warn', 'info', 'debug'])
        .default('error'),
    )
}

function collect(value: string, earlier: string[]): string[] {
  return [...earlier, value]
}

function port(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value <= 65_535) return value
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new InvalidArgumentError('It is a whole number.')
}

function milliseconds(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value > 0 && value < 2 ** 31) return value
  throw new InvalidArgumentError('A time is a whole number of milliseconds, above 0.')
}

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
}
