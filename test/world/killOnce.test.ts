/** One kill of the real daemon where it matters most, for whoever waits; kill.test.ts kills it at every record. */
import { afterEach, test } from 'vitest'
import { expectOrderSurvives, hastyVenue } from './killPoint.ts'
import { killLeftOver, startPaper } from './processes.ts'

afterEach(killLeftOver)

test('killed when an order had left and its answer was not written yet: nothing is sent twice and it ends', async () => {
  const paper = await startPaper(hastyVenue)
  await expectOrderSurvives('send.result:before', paper)
})
