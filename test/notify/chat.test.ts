/** Commands of a chat against a bot service over real sockets: who may, when, once, with a confirmation, through limits and outages. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import type { Event } from '../../src/domain/event.ts'
import { createChatDesk } from '../../src/notify/chat/chatDesk.ts'
import { createChatLoop } from '../../src/notify/chat/chatLoop.ts'
import type { ChatCommand } from '../../src/notify/chat/chatUpdate.ts'
import { sinkSettings } from '../../src/notify/sinkSettings.ts'

interface Update {
  readonly update_id: number
  readonly message: object
}
/** A bot service: keeps updates until a later offset is asked for, and holds polls that have nothing, as Telegram does. */
let server: Server
let url: string
let updates: Update[]
let said: string[]
let calls: { readonly method: string; readonly body: Record<string, unknown> }[]
/** What the next calls of a method are answered in the place of the usual. */
let instead: { readonly method: string; readonly status: number; readonly body: string }[]
let wake: (() => void)[]

beforeEach(async () => {
  updates = []
  said = []
  calls = []
  instead = []
  wake = []
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += String(chunk)
    })
    request.on('end', () => {
      const method = request.url?.split('/').at(-1) ?? ''
      const body = JSON.parse(text)
      calls.push({ method, body })
      const at = instead.findIndex((each) => each.method === method)
      if (at >= 0) {
        const [answer] = instead.splice(at, 1)
        response.writeHead(answer?.status ?? 500).end(answer?.body)
        return
      }
      const answer = (result: unknown): void => void response.end(JSON.stringify({ ok: true, result }))
      if (method === 'getMe') return answer({ username: 'perpd_bot' })
      if (method === 'sendMessage') {
        said.push(String(body.text))
        return answer({})
      }
      if (body.offset < 0) {
        updates = updates.slice(body.offset)
        return answer(updates)
      }
      const give = (): void => {
        updates = updates.filter(({ update_id }) => update_id >= body.offset)
        if (updates.length === 0 && body.timeout > 0) wake.push(give)
        else answer(updates.slice(0, body.limit))
      }
      give()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
let ending = new AbortController()
afterEach(() => {
  ending.abort()
  server.closeAllConnections()
  server.close()
})

const token = '123456:of-the-bot'
const nowMs = 1_800_000_000_000
let nextId = 100
const message = (text: string, over: object = {}): object => ({
  date: nowMs / 1_000,
  chat: { id: -100 },
  from: { id: 7, is_bot: false },
  text,
  ...over,
})
/** The service gets a message. */
function write(text: string, over: object = {}): void {
  nextId += 1
  updates.push({ update_id: nextId, message: message(text, over) })
  for (const give of wake.splice(0)) give()
}

/** Runs a loop; its clock stands still, and its waits are noted and short. */
function start(carryOut: (command: ChatCommand) => string = ({ word }) => `did ${word}`) {
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
  write('/status@other_bot')
  write('hello')
  write('/pnl@Perpd_Bot', { from: { id: 8, is_bot: false } })
  await expect.poll(() => results().length, { timeout: 20_000 }).toBe(8)
  await expect.poll(() => said.length, { timeout: 20_000 }).toBe(2)
  expect(results()).toEqual(['taken', 'stranger', 'stranger', 'other', 'other', 'other', 'other', 'taken'])
  expect(commands.map(({ word, userId }) => `${word} ${userId}`)).toEqual(['status 7', 'pnl 8'])
  expect(said).toEqual(['did status', 'did pnl'])
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
  updates = [{ update_id: nextId, message: message('/pause') }]
  wake = []
  const second = start()
  await polling()
  expect(second.results()).toEqual(['old'])
  instead.push({
    method: 'getUpdates',
    status: 200,
    body: JSON.stringify({ ok: true, result: [{ update_id: nextId, message: message('/pause') }] }),
  })
  write('/status')
  await expect.poll(() => second.commands.length, { timeout: 20_000 }).toBe(1)
  await expect.poll(() => second.results(), { timeout: 20_000 }).toEqual(['old', 'taken', 'again'])
  expect(second.commands.map(({ word }) => word)).toEqual(['status'])
})

test('limits and outages of the service are waited for, told once, and nothing told holds the token', async () => {
  instead = [
    { method: 'getMe', status: 502, body: 'bad' },
    { method: 'getMe', status: 200, body: '<html>' },
    { method: 'getUpdates', status: 429, body: '{"ok":false,"parameters":{"retry_after":7}}' },
    { method: 'getUpdates', status: 409, body: '{"ok":false}' },
  ]
  const { events, waits, commands } = start()
  await polling()
  expect(waits).toEqual([1_000, 4_000, 7_000, 60_000])
  expect(events).toEqual([{ type: 'chat.failed', sink: 'phone', reason: 'it answered 502' }])
  instead = [{ method: 'sendMessage', status: 429, body: '{"ok":false,"parameters":{"retry_after":3}}' }]
  write('/status')
  await expect.poll(() => said, { timeout: 20_000 }).toEqual(['did status'])
  expect(waits.at(-1)).toBe(3_000)
  expect(commands).toHaveLength(1)
  expect(JSON.stringify(events)).not.toContain('of-the-bot')
})

test('an order is done only after its code, by the same person, in time, and once', () => {
  const codes = ['1111', '2222', '3333', '4444']
  const desk = createChatDesk(() => codes.shift() ?? '')
  const say = (text: string, userId = '7', atMs = 0) => {
    const [word = '', ...args] = text.split(' ')
    return desk({ word, args, userId }, atMs)
  }
  expect(say('pause')).toMatchObject({ step: 'say', text: expect.stringContaining('/confirm 1111') })
  expect(say('confirm 1111', '8')).toMatchObject({ text: 'Nothing waits for a confirmation of yours.' })
  expect(say('confirm 1111')).toEqual({ step: 'order', order: 'pause', userId: '7' })
  expect(say('confirm 1111')).toMatchObject({ step: 'say' })
  say('kill close')
  expect(say('confirm 9999')).toMatchObject({ text: expect.stringContaining('another code') })
  expect(say('confirm 2222')).toMatchObject({ step: 'say' })
  say('kill')
  expect(say('confirm 3333', '7', 60_001)).toMatchObject({ text: expect.stringContaining('too late') })
  say('kill close')
  expect(say('confirm 4444', '7', 60_000)).toEqual({ step: 'order', order: 'kill-close', userId: '7' })
  expect(say('positions')).toEqual({ step: 'answer', question: 'positions' })
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
