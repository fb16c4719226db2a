/** Commands of a chat to the real daemon, by a bot service over sockets: carried out once, answered, and journaled with who gave them. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type BotService, startBotService } from '../support/botService.ts'
import { type Operated, operatedIn, type Status } from './operated.ts'
import { killLeftOver, perpd, scratch, startPaper, until } from './processes.ts'

let folder: ReturnType<typeof scratch>
let own: Operated
let bot: BotService
beforeEach(async () => {
  folder = scratch()
  own = await operatedIn(folder.path)
  bot = await startBotService()
})
afterEach(async () => {
  await killLeftOver()
  bot.close()
  folder.remove()
})

const isRunning = ({ state }: Status): boolean => state === 'running'

test('a chat is answered and pauses, reduces and lets trading go on; its kill asks for its code, halts, tells each of its steps, and stands in the journal with who gave it', {
  timeout: 240_000,
}, async () => {
  writeFileSync(
    join(folder.path, 'once.yaml'),
    'kind: trend\nenabled: false\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 500, leverage: 2, collateral: short }\n',
  )
  const tokenFile = join(folder.path, 'bot.token')
  writeFileSync(tokenFile, '123456:of-the-bot')
  chmodSync(tokenFile, 0o600)
  const config = join(folder.path, 'perpd.json')
  const phone = {
    ...{ type: 'telegram', name: 'phone', url: bot.url, tokenFile, chatId: '-100', level: 'info' },
    commandUserIds: ['7'],
  }
  writeFileSync(config, JSON.stringify({ notify: { sinks: [phone] } }))
  const { hosts } = await startPaper()
  const daemon = perpd(['run', `--config=${config}`, ...own.flags(hosts)])
  await own.when('it runs', daemon, isRunning)
  await until('the chat is asked for commands', () => (bot.polls.length > 0 ? true : undefined), {
    seen: daemon.said,
  })
  // The daemon's own clock, by an answer of its port: a message that is too old is ignored.
  const write = async (text: string, userId = 7): Promise<void> => {
    const served = await fetch(`http://127.0.0.1:${own.port}/healthz`)
    const date = Math.floor(Date.parse(served.headers.get('date') ?? '') / 1_000) + 1
    bot.write({ date, chat: { id: -100 }, from: { id: userId, is_bot: false }, text })
  }
  /** The first text after the first `after` of them that says this. */
  const heard = (what: RegExp, after = 0) =>
    until(String(what), () => bot.said.slice(after).find((text) => what.test(text)), {
      seen: () => bot.said.join('\n'),
    })
  /** Orders something, and confirms it with the code that the bot tells. */
  const order = async (text: string): Promise<void> => {
    const before = bot.said.length
    await write(text)
    const asked = await heard(/To do it, within a minute: \/confirm \d{4}/, before)
    await write(`/confirm ${/\d{4}$/.exec(asked)?.[0] ?? ''}`)
  }
  const traded = (to: string) =>
    own.when(`trading is ${to}`, daemon, ({ tradingState }) => tradingState === to)

  for (const [question, answer] of [
    ['/status', /^perpd paper is running; trading is active\n(?:.*\n)*0 positions, 0 open orders/],
    ['/positions', /^No position is held\.$/],
    ['/pnl', /^No realized result today or yesterday \(UTC\)\.$/],
    ['/orders', /^No order is open\.$/],
  ] as const) {
    await write(question)
    await heard(answer)
  }

  await order('/pause')
  await traded('halted')
  await heard(
    /^trading is halted: .*\nAction needed: Check the cause: perpd trading\. It lasts until you release it/m,
  )
  await order('/resume')
  await traded('active')
  await heard(/^trading is active: /m)
  // The second halt is told like the first.
  const told = bot.said.length
  await order('/pause')
  await heard(/^trading is halted: .*\nAction needed: /m, told)
  await order('/reduce')
  await traded('reducing')
  await heard(/^trading is reducing: /m)

  await write('/kill', 9)
  await order('/kill')
  const killed = await own.when('it is killed', daemon, ({ tradingState }) => tradingState === 'halted')
  expect(killed.halts).toMatchObject([
    { cause: 'operator', state: 'reducing' },
    { cause: 'kill', state: 'halted' },
  ])
  await own.when('the kill is over', daemon, ({ kill }) => kill?.outcome === 'done')
  await heard(/[Kk]ill/)
  const steps = await until(
    'the end of the kill is told',
    () => {
      const told = bot.said.filter((text) => /kill/i.test(text))
      return told.some((text) => /done|over|ended|complete/i.test(text)) ? told : undefined
    },
    { seen: () => bot.said.join('\n') },
  )
  expect(steps.length).toBeGreaterThanOrEqual(2)

  const exported = perpd(['journal', 'export', `--journal.path=${join(folder.path, 'journal.sqlite')}`])
  expect(await exported.ended).toBe(0)
  const lines = exported.stdout().split('\n')
  const commands = lines.filter((line) => /"command":"(?:kill|trading)"/.test(line))
  expect(commands.map((line) => /"command":"kill"|(?:halted|active|reducing)/.exec(line)?.[0])).toEqual([
    ...['halted', 'active', 'halted', 'reducing', '"command":"kill"'],
  ])
  for (const line of commands) expect(line).toContain('"by":"telegram user 7","via":"telegram"')
  expect(exported.stdout()).not.toContain('of-the-bot')
  expect(daemon.said()).not.toContain('of-the-bot')
})
