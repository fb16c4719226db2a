/** The table of docs/reference/messages.md, read: its rows, and the groups of orders that they name. */
import { readFileSync } from 'node:fs'

/** A row: what it is of, and what it says. */
export interface RuleRow {
  readonly field: string
  readonly holdsFor: string
  readonly signed: string
  /** The code of what moves by itself; undefined where nothing does. */
  readonly code: string | undefined
  /** What is refused as tampering, and the harm; empty where nothing is. */
  readonly harm: string
}

/** The table. */
export interface RuleTable {
  readonly rows: readonly RuleRow[]
  /** Names of orders and changes that a row's words stand for. Throws an Error for a word that names none. */
  namesOf(holdsFor: string): ReadonlySet<string>
}

/** Reads it. */
export function readRuleTable(): RuleTable {
  const text = readFileSync(new URL('../../docs/reference/messages.md', import.meta.url), 'utf8')
  const groups = new Map<string, readonly string[]>()
  for (const [, name = '', list = ''] of text.matchAll(/^- ([a-z ]+?)(?: \([^)]*\))?: (.+)$/gm))
    groups.set(name, list.split(', '))
  const orders = [...groups].flatMap(([name, list]) => (name === 'changes' ? [] : list))
  const all = [...groups.values()].flat()

  function named(words: string): readonly string[] {
    return words.split(', ').flatMap((word) => {
      if (word === 'every order') return orders
      if (word === 'every message' || word === 'every prepare answer') return all
      const found = groups.get(word) ?? (all.includes(word) ? [word] : undefined)
      if (found === undefined)
        throw new Error(`docs/reference/messages.md: a rule holds for "${word}", which is no order`)
      return found
    })
  }

  const rows = [...text.matchAll(/^\| `([^`]+)` \|(.*)\|$/gm)].map(([, field = '', rest = '']): RuleRow => {
    const [holdsFor = '', signed = '', moves = '', harm = ''] = rest.split('|').map((cell) => cell.trim())
    return { field, holdsFor, signed, code: /`([A-Z_]+)`/.exec(moves)?.[1], harm }
  })
  return {
    rows,
    namesOf(holdsFor) {
      const [some = '', others] = holdsFor.split(' but ')
      const without = new Set(others === undefined ? [] : named(others))
      return new Set(named(some).filter((name) => !without.has(name)))
    },
  }
}
