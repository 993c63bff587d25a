// The shell family in the browser: what a person sees and does while commands run, ask, are refused, go on as jobs, or prompt.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, launch, openPage, say } from './browser.ts'
import { canConfine, Waiting, World, type Served } from './harness.ts'

describe.skipIf(!hasBrowser)('the shell in a browser (needs Chromium)', () => {
  let world: World
  let served: Served
  let browser: Browser
  let page: Page
  let complaints: readonly string[]

  beforeAll(async () => {
    // Not below /tmp, which is the session's own for confined commands.
    world = new World('/var/tmp')
    served = await world.serve()
    browser = await launch(world)
  })
  afterEach(async () => {
    expect(complaints).toEqual([])
    await page.context().close()
  })
  afterAll(async () => {
    await browser.close()
    await served.stop()
    await world.remove()
  })

  const run = async (command: string, more: Record<string, unknown> = {}): Promise<void> => {
    ;({ page, complaints } = await openPage(browser, served))
    await say(page, `/bash ${JSON.stringify({ command, description: 'Try it', ...more })}`)
  }
  const text = (where: Locator, wanted: string | RegExp): Promise<void> => where.getByText(wanted).first().waitFor()
  const ended = (): Promise<void> =>
    page
      .locator('[data-composer]')
      .locator('xpath=../..')
      .getByRole('button', { name: /stop/i })
      .waitFor({ state: 'detached' })

  it('streams a long command into its card, and stop ends it with all that it has started', async () => {
    const waiting = new Waiting(world)
    await run(`for i in 1 2 3; do echo "step $i"; sleep 0.2; done; (${waiting.command}) & wait`)
    const card = page.locator('[data-call]')
    await text(card, 'step 1')
    expect(await card.getAttribute('data-state')).toBe('running')
    await text(card, /step 3/)
    await waiting.started()
    await page.getByRole('button', { name: 'Stop' }).click()
    await text(page.locator('[data-chat-list]'), 'Stopped by you')
    expect(waiting.running()).toBe(false)
  })

  it.skipIf(!canConfine())('shows the rule that refused a write, which did not happen', async () => {
    const outside = join(world.path, '..', 'outside')
    mkdirSync(outside, { recursive: true })
    await run(`echo no > ${outside}/refused`)
    await text(page.locator('[data-chat-list]'), 'The bash tool returned:')
    const card = page.locator('[data-call]')
    await text(card, `write of ${outside}/refused denied (outside-writable-roots)`)
    expect(existsSync(`${outside}/refused`)).toBe(false)
  })

  it.skipIf(!canConfine())('asks with the very command and the narrowest rule, and keeps to the answer', async () => {
    const outside = join(world.path, '..', 'outside')
    mkdirSync(outside, { recursive: true })
    const command = `touch ${outside}/allowed`
    const wider = { sandbox_permissions: 'danger-full-access', justification: 'To leave a mark outside' }
    await run(command, wider)
    const card = page.locator('[data-approval]')
    await text(card, command)
    await text(card, 'To leave a mark outside')
    await card.getByRole('button', { name: /^Always touch / }).waitFor()
    expect(existsSync(`${outside}/allowed`)).toBe(false)
    await card.getByRole('button', { name: /^Deny/ }).click()
    await text(page.locator('[data-chat-list]'), /denied by you/)
    expect(existsSync(`${outside}/allowed`)).toBe(false)

    await say(page, `/bash ${JSON.stringify({ command, description: 'Try again', ...wider })}`)
    await card.getByRole('button', { name: /^Always touch / }).click()
    await text(page.locator('[data-chat-list]'), /allowed by you for every .touch /)
    await expect.poll(() => existsSync(`${outside}/allowed`)).toBe(true)

    // Remembered for this command and for no other.
    await say(
      page,
      `/bash ${JSON.stringify({ command: `${command} ${outside}/more`, description: 'Again', ...wider })}`,
    )
    await expect.poll(() => existsSync(`${outside}/more`)).toBe(true)
    await say(page, `/bash ${JSON.stringify({ command: `rm ${outside}/more`, description: 'Remove', ...wider })}`)
    await text(card, `rm ${outside}/more`)
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await card.waitFor({ state: 'detached' })
    expect(existsSync(`${outside}/more`)).toBe(true)
  })

  it('sends a running command to the background, shows what it prints, and kills it', async () => {
    const waiting = new Waiting(world)
    await run(`echo from the job; (${waiting.command})`)
    await waiting.started()
    await page.getByRole('button', { name: 'Send to background' }).click()
    const chip = page.locator('[data-dock]').getByRole('button', { name: /^bash-1/ })
    await chip.click()
    const panel = page.locator('[data-job]')
    await text(panel, 'from the job')
    await ended()
    expect(waiting.running()).toBe(true)
    await panel.getByRole('button', { name: 'Stop' }).click()
    await text(panel, /killed/)
    await expect.poll(() => waiting.running()).toBe(false)
  })

  it('lets a person answer the prompt of a program, and type into its terminal', async () => {
    ;({ page, complaints } = await openPage(browser, served))
    await say(page, '/terminal_open {}')
    await page.locator('[data-dock]').getByRole('button', { name: 'pty-1' }).waitFor()
    await ended()
    const ask = `read -s -p "Password: " word; echo; printf %s "$word" | tr a-z b-za > told`
    await say(page, `/terminal_send ${JSON.stringify({ terminal: 'pty-1', text: ask })}`)
    const question = page.locator('[data-question]')
    await text(question, 'A program in pty-1 asks')
    await question.locator('input[type=password]').fill('tr0ub4dor')
    await question.locator('input[type=password]').press('Enter')
    await text(page.locator('[data-chat-list]'), /the user answered a prompt of the program/)
    expect(readFileSync(world.file('told'), 'utf8')).toBe('us0vc4eps')
    const logs = join(world.home, 'sessions')
    for (const file of readdirSync(logs, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())) {
      expect(readFileSync(join(file.parentPath, file.name), 'utf8'), file.name).not.toContain('tr0ub4dor')
    }

    await page.locator('[data-dock]').getByRole('button', { name: 'pty-1' }).click()
    await page.locator('[data-terminal] .xterm-screen').waitFor()
    await page.locator('[data-terminal] textarea').focus()
    await page.keyboard.type('echo typed by a person > typed\n')
    await expect
      .poll(() => existsSync(world.file('typed')) && readFileSync(world.file('typed'), 'utf8'))
      .toBe('typed by a person\n')
  })
})
