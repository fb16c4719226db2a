/** The pages of results, risk and the system on a phone of 390 px. */
import { phoneTest } from './phoneWalk.ts'

phoneTest(['results', 'risk', 'system'])
