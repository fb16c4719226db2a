/** Commands of a chat against a bot service over real sockets: who may, when, once, with a confirmation, through limits and outages. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import type { Event } from '../../src/domain/event.ts'
import { createChatDesk } from '../../src/notify/chat/chatDesk.ts'
import { createChatLoop } from '../../src/notify/chat/chatLoop.ts'
import { type ChatCommand, judgeUpdate } from '../../src/notify/chat/chatUpdate.ts'
import { sinkSettings } from '../../src/notify/sinkSettings.ts'
import { type BotService, startBotService } from '../support/botService.ts'

let bot: BotService
let url: string
let said: string[]
let instead: BotService['instead']
let wake: (() => void)[]

beforeEach(async () => {
  bot = await startBotService()
  ;({ url, said, instead, polls: wake } = bot)
})
let ending = new AbortController()
afterEach(() => {
  ending.abort()
  bot.close()
})

const token = '123456:of-the-bot'
const nowMs = 1_800_000_000_000
const message = (text: string, over: object = {}): object => ({
  date: nowMs / 1_000,
  chat: { id: -100 },
  from: { id: 7, is_bot: false },
  text,
  ...over,
})
/** The service gets a message. */
function write(text: string, over: object = {}): void {
  bot.write(message(text, over))
}

/** Runs a loop; its clock stands still, and its waits are noted and short. */
function start(
  carryOut: (command: ChatCommand) => string = ({ word }) => `did ${word}`,
  monotonicMs: () => number = systemClock.monotonicMs,
) {
  ending = new AbortController()
  const events: Event[] = []
  const waits: number[] = []
  const commands: ChatCommand[] = []
  const run = createChatLoop(
    {
      name: 'phone',
      url,
      token: new Secret(token),
      chatId: '-100',
      userIds: ['7', '8'],
      post: createNodeFetch().fetch,
      clock: {
        ...systemClock,
        now: () => nowMs,
        monotonicMs,
        sleep: (ms) => {
          waits.push(ms)
          return new Promise((resolve) => setImmediate(resolve))
        },
      },
      emit: (event) => void events.push(event),
      timeoutMs: 5_000,
      carryOut: async (command) => {
        commands.push(command)
        return carryOut(command)
      },
    },
    ending.signal,
  )
  const ended = run()
  const results = () => events.flatMap((event) => (event.type === 'chat.update' ? [event.result] : []))
  return { events, waits, commands, results, ended }
}
const polling = () => expect.poll(() => wake.length, { timeout: 20_000 }).toBeGreaterThan(0)

test('a command of the chat and of a person named for it is carried out and answered; everything else is ignored and counted', async () => {
  const { commands, results } = start()
  await polling()
  write('/status')
  write('/status', { chat: { id: -101 } })
  write('/status', { from: { id: 9, is_bot: false } })
  write('/status', { from: { id: 7, is_bot: true } })
  write('/status', { forward_origin: { type: 'user' } })
  write('/status', { via_bot: { id: 11, is_bot: true } })
  write('/status', { date: nowMs / 1_000 + 3_600 })
  write('/status@other_bot')
  write('hello')
  write('/pnl@Perpd_Bot', { from: { id: 8, is_bot: false } })
  await expect.poll(() => results().length, { timeout: 20_000 }).toBe(10)
  await expect.poll(() => said.length, { timeout: 20_000 }).toBe(2)
  const ignored = ['stranger', 'stranger', ...Array.from({ length: 6 }, () => 'other')]
  expect(results()).toEqual(['taken', ...ignored, 'taken'])
  expect(commands.map(({ word, userId }) => `${word} ${userId}`)).toEqual(['status 7', 'pnl 8'])
  expect(said).toEqual(['did status', 'did pnl'])
})

test('of a chat with topics the messages of one count, where one is named', () => {
  const rules = { chatId: '-100', userIds: ['7'], botName: 'perpd_bot', startedAtMs: nowMs }
  const judged = (over: object, topicId?: number) =>
    judgeUpdate(
      { message: message('/status', over) },
      topicId === undefined ? rules : { ...rules, topicId },
      nowMs,
    ).is
  expect(judged({ message_thread_id: 7 }, 7)).toBe('command')
  expect(judged({ message_thread_id: 8 }, 7)).toBe('ignored')
  expect(judged({}, 7)).toBe('ignored')
  expect(judged({ message_thread_id: 8 })).toBe('command')
  // A clock that is some seconds behind the service's is no reason.
  expect(judged({ date: nowMs / 1_000 + 9 })).toBe('command')
})

test.each([
  ['/kill close', 'kill close'],
  ['/Kill Close', 'kill close'],
  ['/kill_close', 'kill close'],
  ['/kill-exits@perpd_bot', 'kill exits'],
  ['/KILL\n close', 'kill close'],
  ['/confirm  0042', 'confirm 0042'],
  ['/killl2', 'killl2'],
  ['/ kill', undefined],
  ['//kill', undefined],
  ['kill', undefined],
  ['/kill_close@other_bot', undefined],
  ['／kill', undefined],
])('%j, as a phone or a tap writes it, is %s', (text, meant) => {
  const rules = { chatId: '-100', userIds: ['7'], botName: 'perpd_bot', startedAtMs: nowMs }
  const judged = judgeUpdate({ message: message(text) }, rules, nowMs)
  const said = judged.is === 'command' ? [judged.command.word, ...judged.command.args].join(' ') : undefined
  expect(said).toBe(meant)
})

test('what was sent before the start, or more than a minute ago, is not carried out', async () => {
  write('/kill')
  write('/kill')
  const { commands, results } = start()
  await polling()
  expect(commands).toEqual([])
  // A message that was under way for long, by the service's own time.
  write('/kill', { date: nowMs / 1_000 - 61 })
  write('/kill', { date: nowMs / 1_000 - 1 })
  write('/status')
  await expect.poll(() => results().length, { timeout: 20_000 }).toBe(4)
  expect(results()).toEqual(['old', 'old', 'old', 'taken'])
  expect(commands.map(({ word }) => word)).toEqual(['status'])
})

test('nothing is done twice: not over a restart before the service heard that it was taken, nor when it gives the same again', async () => {
  const first = start()
  await polling()
  write('/pause')
  await expect.poll(() => first.commands.length, { timeout: 20_000 }).toBe(1)
  ending.abort()
  await first.ended
  // As if the offset had never come: the service has it still.
  bot.again(message('/pause'))
  const second = start()
  await expect.poll(() => second.results(), { timeout: 20_000 }).toEqual(['old'])
  instead.push({
    method: 'getUpdates',
    status: 200,
    body: JSON.stringify({ ok: true, result: [{ update_id: bot.newestId(), message: message('/pause') }] }),
  })
  write('/status')
  await expect.poll(() => second.commands.length, { timeout: 20_000 }).toBe(1)
  await expect.poll(() => second.results(), { timeout: 20_000 }).toEqual(['old', 'taken', 'again'])
  expect(second.commands.map(({ word }) => word)).toEqual(['status'])
})

test('limits and outages of the service are waited for, told once, and nothing told holds the token', async () => {
  instead.push(
    ...[
      { method: 'getMe', status: 502, body: 'bad' },
      { method: 'getMe', status: 200, body: '<html>' },
      { method: 'getUpdates', status: 429, body: '{"ok":false,"parameters":{"retry_after":7}}' },
      { method: 'getUpdates', status: 409, body: '{"ok":false}' },
    ],
  )
  const { events, waits, commands } = start()
  await polling()
  expect(waits).toEqual([1_000, 4_000, 7_000, 60_000])
  expect(events).toEqual([
    { type: 'chat.failed', sink: 'phone', what: 'commands', reason: 'it responded 502' },
  ])
  instead.push(
    ...[{ method: 'sendMessage', status: 429, body: '{"ok":false,"parameters":{"retry_after":3}}' }],
  )
  write('/status')
  await expect.poll(() => said, { timeout: 20_000 }).toEqual(['did status'])
  expect(waits.at(-1)).toBe(3_000)
  expect(commands).toHaveLength(1)
  expect(JSON.stringify(events)).not.toContain('of-the-bot')
})

test('commands that come again are told once no poll failed for a minute, however they came and went before', async () => {
  let atMs = 0
  instead.push({ method: 'getMe', status: 502, body: 'bad' })
  const { events } = start(undefined, () => atMs)
  const told = () =>
    events.flatMap(({ type }) => (type.startsWith('chat.') && type !== 'chat.update' ? type : []))
  await polling()
  expect(told()).toEqual(['chat.failed'])
  // It fails again half a minute later: the same trouble.
  atMs = 30_000
  instead.push({ method: 'getUpdates', status: 502, body: 'bad' })
  write('/status')
  await expect.poll(() => said.length, { timeout: 20_000 }).toBe(1)
  await expect.poll(() => instead.length, { timeout: 20_000 }).toBe(0)
  await polling()
  atMs = 89_999
  write('/status')
  await expect.poll(() => said.length, { timeout: 20_000 }).toBe(2)
  await polling()
  expect(told()).toEqual(['chat.failed'])
  atMs = 90_000
  write('/status')
  await expect.poll(told, { timeout: 20_000 }).toEqual(['chat.failed', 'chat.restored'])
})

test('an answer that the chat does not take is told once, and that the next one was taken', async () => {
  const { events } = start()
  const told = () => events.filter(({ type }) => type === 'chat.failed' || type === 'chat.restored')
  const refused = { method: 'sendMessage', status: 400, body: '{"ok":false}' }
  await polling()
  instead.push(refused, refused)
  write('/status')
  write('/pnl')
  write('/orders')
  await expect.poll(() => said, { timeout: 20_000 }).toEqual(['did orders'])
  await expect.poll(told, { timeout: 20_000 }).toEqual([
    { type: 'chat.failed', sink: 'phone', what: 'answers', reason: 'it responded 400' },
    { type: 'chat.restored', sink: 'phone', what: 'answers' },
  ])
})

test('an order is done only after its code, by the same person, in time, and once', () => {
  const codes = ['1111', '2222', '3333', '4444']
  const desk = createChatDesk(() => codes.shift() ?? '')
  const say = (text: string, userId = '7', atMs = 0) => {
    const [word = '', ...args] = text.split(' ')
    return desk({ word, args, userId }, atMs)
  }
  expect(say('pause')).toMatchObject({ step: 'say', text: expect.stringContaining('/confirm 1111') })
  expect(say('confirm 1111', '8')).toMatchObject({ text: 'No command of yours waits for a confirmation.' })
  expect(say('confirm 1111')).toEqual({ step: 'order', order: 'pause', userId: '7' })
  expect(say('confirm 1111')).toMatchObject({ step: 'say' })
  say('kill close')
  expect(say('confirm 9999')).toMatchObject({ text: expect.stringContaining('code is wrong') })
  expect(say('confirm 2222')).toMatchObject({ step: 'say' })
  say('kill')
  expect(say('confirm 3333', '7', 60_001)).toMatchObject({ text: expect.stringContaining('too late') })
  say('kill close')
  expect(say('confirm 4444', '7', 60_000)).toEqual({ step: 'order', order: 'kill-close', userId: '7' })
  expect(say('positions')).toEqual({ step: 'answer', question: 'positions' })
  codes.push('5555')
  expect(say('kill exits')).toMatchObject({ text: expect.stringMatching(/^\/kill exits .*stop-losses too/) })
  expect(say('confirm 5555')).toEqual({ step: 'order', order: 'kill-exits', userId: '7' })
  codes.push('6666', '7777')
  expect(say('protect ETH/USD [WETH-USDC] long 3% 2400')).toMatchObject({
    text: expect.stringContaining('/confirm 6666'),
  })
  expect(say('confirm 6666')).toEqual({
    step: 'order',
    order: { market: 'ETH/USD [WETH-USDC]', direction: 'long', stopLoss: '3%', takeProfit: '2400' },
    userId: '7',
  })
  say('protect ETH short none')
  expect(say('confirm 7777')).toMatchObject({
    order: { market: 'ETH', direction: 'short', stopLoss: 'none' },
  })
  for (const wrong of ['ETH long', 'long 3%', 'ETH long 0,9', 'ETH long 3% 2400 1', 'ETH up 3%'])
    expect(say(`protect ${wrong}`), wrong).toMatchObject({ text: expect.stringContaining('/status') })
  expect(say('kill everything')).toMatchObject({ text: expect.stringContaining('/status') })
})

test('a chat commands only where people are named for it, and where its number is', () => {
  const shape = sinkSettings(() => true)
  const written = { type: 'telegram', name: 'phone', tokenFile: '/x', chatId: '-100' }
  expect(shape.parse(written)).not.toHaveProperty('commandUserIds')
  const isTaken = (over: object) => shape.safeParse({ ...written, ...over }).success
  expect(isTaken({ commandUserIds: ['7'] })).toBe(true)
  expect(isTaken({ commandUserIds: [] })).toBe(false)
  expect(isTaken({ commandUserIds: ['ann'] })).toBe(false)
  expect(isTaken({ commandUserIds: ['7'], chatId: '@channel' })).toBe(false)
})
