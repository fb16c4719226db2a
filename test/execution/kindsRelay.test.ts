/** Every kind in the relay lane, closed by the chain alone. */
import { testKinds } from './kindScenarios.ts'

testKinds({ lane: 'relay', isByChain: true })
