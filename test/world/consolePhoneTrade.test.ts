/** The page of Trade on a phone of 390 px. */
import { phoneTest } from './phoneWalk.ts'

phoneTest(['trade'])
