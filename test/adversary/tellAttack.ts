/** Tells an attack by its name. */
import { attacks } from './attacks.ts'
import { runStory, type StoryResult } from './world.ts'

/**
 * Runs it. Throws RangeError for a name that no attack has.
 *
 * @public A worker imports it by an address that it puts together (mutantWorker.ts).
 */
export function tellAttack(name: string): Promise<StoryResult> {
  const found = attacks.find((attack) => attack.name === name)
  if (found === undefined) throw new RangeError(`there is no attack "${name}"`)
  return runStory(found.story)
}
