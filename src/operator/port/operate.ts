/** Carries out commands of an operator. The journal records every command, with its author and channel, before it is carried out. */
import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import { encodeExact } from '../../domain/records.ts'
import { type OperatorCommand, rowOf } from '../commands/index.ts'
import { type OperatorAnswer, refusal } from '../operatorAnswer.ts'
import type { OperatorContext } from '../operatorContext.ts'

/** Carries out one command. Throws what the journal throws. */
export async function operate(
  context: OperatorContext,
  command: OperatorCommand,
  commander: Commander,
): Promise<OperatorAnswer> {
  if (!context.isTaking()) return refusal('STOPPING', 'perpd is stopping and accepts no commands')
  const row = rowOf(command)
  // A preview makes and changes nothing.
  if (command.isPreview === true && row.preview !== undefined)
    return await row.preview(context, command, commander)
  if (row.isRecordedByItself !== true) {
    const { type, isPreview: _, ...detail } = command
    await context.trading.accountJournal.write({
      kind: 'operator.command',
      command: type,
      // Amounts of a command to come may be bigints, which JSON.stringify throws at.
      detail: encodeExact(detail),
      ...commander,
    })
  }
  return await row.run(context, command, commander)
}
