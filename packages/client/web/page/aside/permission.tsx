// What commands of the session may touch: the mode in force, the menu that changes it, and the answers that are remembered.
import type { AsideFrame } from '@deepseek-ai/dsh-server/protocol'
import type { SandboxMode } from '@deepseek-ai/dsh-sandbox'
import { Check, ShieldAlert, ShieldCheck, ShieldOff } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { t } from '../strings.ts'

interface PermissionMenuProps {
  readonly permission: NonNullable<AsideFrame['permission']>
  readonly grants: AsideFrame['grants']
  readonly onMode: (mode: SandboxMode) => void
  readonly onRevoke: (grantId: string) => void
}

export function PermissionMenu({ permission, grants, onMode, onRevoke }: PermissionMenuProps) {
  const { mode, network, modes, status } = permission
  const broken = status?.available === false && mode !== 'danger-full-access'
  const Icon = broken ? ShieldAlert : mode === 'danger-full-access' ? ShieldOff : ShieldCheck
  const tone = broken || mode === 'danger-full-access' ? 'text-warn' : 'text-ink3'
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        className="inline-flex h-7 min-w-0 items-center gap-1.5 rounded-control px-1.5 text-meta text-ink2 hover:bg-hover"
        aria-label={`${t.permission.title}: ${t.permission.modes[mode]}`}
        title={broken ? `${status.reason}. ${status.remedy}` : t.permission.explain[mode]}
        data-permission={mode}
      >
        <Icon size={14} className={tone} />
        <span className="truncate max-[759px]:hidden">
          {broken ? t.permission.unavailable : t.permission.modes[mode]}
        </span>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu max-w-80" side="top" align="start" sideOffset={6}>
          <DropdownMenu.Label className="menu-label">{t.permission.title}</DropdownMenu.Label>
          {modes.map((each) => (
            <DropdownMenu.Item key={each} className="menu-item items-start" onSelect={() => onMode(each)}>
              <span className="grid w-4 flex-none place-items-center pt-0.5">
                {each === mode && <Check size={13} />}
              </span>
              <span className="min-w-0">
                <span className="block">{t.permission.modes[each]}</span>
                <span className="block text-meta whitespace-normal text-ink3">{t.permission.explain[each]}</span>
              </span>
            </DropdownMenu.Item>
          ))}
          <div className="px-2 py-1.5 text-meta text-ink3">
            {t.permission.network} {t.permission.networks[network]}
            {broken && <p className="pt-1 whitespace-normal text-warn">{`${status.reason}. ${status.remedy}`}</p>}
          </div>
          {grants.length > 0 && (
            <>
              <DropdownMenu.Label className="menu-label">{t.approval.granted}</DropdownMenu.Label>
              {grants.map(({ id, grant, toolName }) => (
                <DropdownMenu.Item key={id} className="menu-item" onSelect={() => onRevoke(id)}>
                  <span className="min-w-0 flex-1 truncate">
                    {grant.kind === 'prefix' ? (
                      <code className="font-mono text-mono">{grant.words.join(' ')} …</code>
                    ) : (
                      toolName
                    )}
                  </span>
                  <span className="flex-none text-meta text-ink3">{t.approval.revoke}</span>
                </DropdownMenu.Item>
              ))}
            </>
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
