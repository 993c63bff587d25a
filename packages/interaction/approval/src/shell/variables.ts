// Variables that steer what a later command is or does. Setting one of them makes a command something else than its words say.

const STEERING: readonly RegExp[] = [
  // The shell's own.
  /^(?:IFS|ENV|HOME|CDPATH|PS[0-4]|PROMPT_COMMAND|BASH.*|SHELL.*|GLOBIGNORE|FIGNORE|POSIXLY_CORRECT)$/i,
  // The loader's and every search path.
  /^(?:LD|DYLD)_|PATH$|PRELOAD/i,
  // What programs start by themselves, and the options they read from the environment.
  /PAGER$|EDITOR$|^VISUAL$|BROWSER$|ASKPASS|^LESS|COMMAND$|_CMD$|WRAPPER|OPTIONS?$|OPTS?$|OPT$|FLAGS$|CONFIG|PROXY$/i,
  // Families that configure one tool each, several of them up to running a program.
  /^(?:GIT|NPM|PNPM|YARN|PIP|UV|BUNDLE|GEM|DENO|BUN|CARGO|XDG|DOCKER|SSH|SUDO)(?:_|$)/i,
  /^(?:PYTHON|PERL|RUBY|_?JAVA|JDK|RUSTC|RUSTDOC|RUSTUP|KUBE|MAKE)/i,
  /^NODE_(?!ENV$)/i,
  /^GO[A-Z]+$/i,
  /^(?:CC|CXX|LD|AR|AS)$/,
]

export const isSteering = (name: string): boolean => STEERING.some((pattern) => pattern.test(name))
