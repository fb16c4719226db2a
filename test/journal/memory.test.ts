import { createMemoryJournal, createMemoryStore } from '../../src/journal/memory.ts'
import { journalConformance } from './conformance.ts'

journalConformance('memory', () => {
  const store = createMemoryStore()
  return { store, journal: createMemoryJournal(store) }
})
