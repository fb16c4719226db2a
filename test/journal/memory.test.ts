import { createMemoryJournal } from '../../src/journal/memory.ts'
import { journalConformance } from './conformance.ts'

journalConformance('memory', createMemoryJournal)
