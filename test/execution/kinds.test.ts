/** Every kind in the order chain, closed by the host's word and the account's own rows. */
import { testKinds } from './kindScenarios.ts'

testKinds({})
