/** The register of events says what the log writes, and docs/reference/events.md says what the register does. */
import { expect, test } from 'vitest'
import { commonFieldNames, eventRegister, type LineName } from '../../src/monitor/events/eventRegister.ts'
import { noteRegister } from '../../src/monitor/events/processNotes.ts'
import { createLog } from '../../src/monitor/log/log.ts'
import { holdToRegister } from '../support/registeredLine.ts'
import { everyEvent } from './events.ts'

test.each(everyEvent.map((event, n) => [`${n} ${event.type}`, event] as const))(
  'the line of event %s has a level and fields that the register names',
  (_name, event) => {
    holdToRegister(event)
  },
)

test('every event that can be emitted has a sample, so that its line is held to the register', () => {
  const sampled = new Set<string>(everyEvent.map(({ type }) => type))
  const events = Object.keys(eventRegister).filter((name) => !(name in noteRegister))
  expect(events.filter((name) => !sampled.has(name))).toEqual([])
})

test('what a JSON line has besides the fields of its event is in the register too', () => {
  const lines: string[] = []
  const log = createLog({
    level: 'debug',
    format: 'json',
    stream: { write: (text: string) => lines.push(text) },
    runId: 'r',
    now: () => 0,
  })
  for (const event of [...everyEvent, ...everyEvent]) log.listen(event)
  log.note('daemon.failed', 'error', 'perpd stops: no luck')
  const unknown = lines.flatMap((text) => {
    const line = JSON.parse(text) as { readonly event: LineName }
    const known = new Set([...Object.keys(commonFieldNames), ...eventRegister[line.event].fields])
    return Object.keys(line).filter(
      (field) =>
        !known.has(field) && !known.has(field.replace(/_dollars$/, '_usd')) && !/_dollars$/.test(field),
    )
  })
  expect(lines.length).toBeGreaterThan(everyEvent.length)
  expect(unknown).toEqual([])
})

test('every name is dotted, and every entry has a sentence and a level', () => {
  for (const [name, { levels, meaning }] of Object.entries(eventRegister)) {
    expect(name).toMatch(/^[a-z][A-Za-z]*\.[a-z][A-Za-z_]*$/)
    expect(meaning).toMatch(/^[A-Z].*\.$/)
    expect(levels.length).toBeGreaterThan(0)
  }
})
