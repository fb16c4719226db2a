/** The pages of orders and strategies on a phone of 390 px. */
import { phoneTest } from './phoneWalk.ts'

phoneTest(['orders', 'strategies'])
