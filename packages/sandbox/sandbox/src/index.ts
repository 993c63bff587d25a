// Public surface of @deepseek-ai/dsh-sandbox. Anything added here is public.
export { SandboxPolicyService, SandboxPolicyService as default } from './policy-service.ts'
export { Sandbox } from './sandbox.ts'
export { SandboxError, type SandboxErrorCode } from './errors.ts'
export { sandboxPolicyConfig } from './config.ts'
export { builtInDeniedReads } from './credentials.ts'
export { judgePath, writableRootsOf, type SandboxVerdict } from './judge.ts'
export { isWithin, outermost, realPathOf, segmentsBelow } from './paths.ts'
export { isProtectedName, protectedPaths, type ProtectedPath } from './protected-paths.ts'
export {
  RepositoryScans,
  SCAN_DEPTH,
  linkedWorktreeFolders,
  scanRepositories,
  type Repository,
  type RepositoryScan,
} from './repositories.ts'
export { parseGitConfig, readGitConfig, type GitConfig } from './git-config.ts'
export type * from './policy-types.ts'
export { SANDBOX_MODES } from './types.ts'
export type * from './types.ts'
