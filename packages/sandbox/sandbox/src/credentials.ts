// The built-in list of what no confined command reads: keys, tokens, cookies, and the harness's own secrets.
import { join } from 'node:path'

const IN_HOME = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker/config.json',
  '.netrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.git-credentials',
  '.pgpass',
  '.my.cnf',
  '.vault-token',
  '.password-store',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.terraform.d/credentials.tfrc.json',
  '.config/gcloud',
  '.config/gh',
  '.config/hub',
  '.config/op',
  '.config/git/credentials',
  '.config/containers/auth.json',
  '.local/share/keyrings',
  '.mozilla',
  '.thunderbird',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/vivaldi',
  '.config/opera',
  'snap/firefox/common/.mozilla',
  'snap/chromium/common/chromium',
  '.var/app/org.mozilla.firefox',
  '.var/app/com.google.Chrome',
  'Library/Keychains',
  'Library/Cookies',
  'Library/Application Support/Google/Chrome',
  'Library/Application Support/Firefox',
  'Library/Application Support/Microsoft Edge',
  'Library/Application Support/BraveSoftware',
]

/** Not its `sessions` and `spill`: those are for reading. */
const IN_HARNESS_HOME = ['providers.json', 'server.json', 'credentials.json', 'credentials', 'auth.json', 'keys']

/** Absolute paths, existing or not. */
export function builtInDeniedReads(home: string, harnessHome: string): string[] {
  return [...IN_HOME.map((path) => join(home, path)), ...IN_HARNESS_HOME.map((path) => join(harnessHome, path))]
}
