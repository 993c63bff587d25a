// Which model is in use, and the menu that changes it.
import type { HostInfo } from '@deepseek-ai/dsh-server/protocol'
import type { ModelRef } from '@deepseek-ai/dsh-llm'
import { Check, ChevronDown, Cpu } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { t } from '../strings.ts'

interface ModelMenuProps {
  readonly info: HostInfo | undefined
  readonly model: ModelRef | undefined
  readonly onChoose: (model: ModelRef) => void
  readonly onSettings: () => void
}

export function modelName(info: HostInfo | undefined, model: ModelRef | undefined): string {
  if (!model) return '…'
  const provider = info?.providers.find((status) => status.provider === model.provider)
  return provider?.models.find(({ id }) => id === model.model)?.name ?? model.model
}

/** True for the model that runs inside the process because no key is set. */
export function isOffline(info: HostInfo | undefined, model: ModelRef | undefined): boolean {
  const provider = info?.providers.find((status) => status.provider === model?.provider)
  return (
    provider !== undefined && provider.baseURL === undefined && provider.configured && provider.keySource === undefined
  )
}

function OfflineNote() {
  return (
    <span className="text-ink2">
      {t.offlineModel} {t.addKey}
    </span>
  )
}

export function ModelMenu({ info, model, onChoose, onSettings }: ModelMenuProps) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        className="inline-flex h-7 min-w-0 items-center gap-1.5 rounded-control px-1.5 text-ink2 hover:bg-hover data-[state=open]:bg-hover pointer-coarse:h-10"
        aria-label={t.chooseModel}
      >
        <Cpu size={14} className="flex-none" />
        <span className="truncate">{modelName(info, model)}</span>
        <ChevronDown size={12} className="flex-none text-ink3" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" side="top" align="start" sideOffset={6} collisionPadding={12}>
          {info?.providers.map((provider) => (
            <DropdownMenu.Group key={provider.provider}>
              <DropdownMenu.Label className="menu-label">
                {provider.label}
                {!provider.configured && <span className="text-warn"> · {t.notConfigured}</span>}
              </DropdownMenu.Label>
              {provider.models.map((entry) => {
                const chosen = entry.id === model?.model && provider.provider === model.provider
                return (
                  <DropdownMenu.Item
                    key={entry.id}
                    className="menu-item"
                    disabled={!provider.configured}
                    onSelect={() => onChoose({ provider: provider.provider, model: entry.id })}
                  >
                    <span className="w-4 flex-none">{chosen && <Check size={14} />}</span>
                    <span className="truncate">{entry.name ?? entry.id}</span>
                  </DropdownMenu.Item>
                )
              })}
            </DropdownMenu.Group>
          ))}
          <DropdownMenu.Separator className="my-1 h-px bg-line" />
          <DropdownMenu.Item className="menu-item" onSelect={onSettings}>
            <span className="w-4 flex-none" />
            {isOffline(info, model) ? <OfflineNote /> : t.settings}
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
