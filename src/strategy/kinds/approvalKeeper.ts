/**
 * Approval keeper: checks the remaining approval of a delegated key, and has its renewal prepared in good time. It trades nothing and signs nothing:
 * the renewal is a file for the owner's wallet. Where the account's own key signs there is no approval, and nothing to do.
 */
import { countField, secondsField } from '../fields.ts'
import { defineStrategy, type Strategy, z } from '../strategy.ts'

const schema = z.strictObject({
  actionsBelow: countField({ min: 0, max: 1_000_000 })
    .default(200)
    .describe('remaining actions, beyond those for closing everything, at which it prepares a renewal (200)'),
  secondsBelow: secondsField({ min: 0, max: 31_536_000 })
    .default(259_200_000)
    .describe('time before the end of the approval at which it prepares a renewal, seconds (259200)'),
  renewActions: countField({ min: 1, max: 1_000_000 })
    .default(1_000)
    .describe('actions that the renewal grants beyond the used ones (1000)'),
  renewDays: countField({ min: 1, max: 365 }).default(7).describe('days that the renewal lasts (7)'),
})

/** The kind `approval-keeper`. */
export const approvalKeeper: Strategy<z.output<typeof schema>> = defineStrategy({
  kind: 'approval-keeper',
  description: "Prepares the renewal of a delegated key's approval before its actions or its time run out.",
  opensPositions: false,
  params: schema,
  needs: (_params, symbols) => ({ symbols }),
  decide({ approval, params, snapshot }) {
    if (approval === undefined) return []
    const spare = approval.remainingActions - approval.neededActions
    const leftMs = approval.expiresAtSeconds * 1_000 - snapshot.atMs
    const isShort = spare <= params.actionsBelow
    if (!isShort && leftMs > params.secondsBelow) return []
    const hours = Math.max(0, Math.floor(leftMs / 3_600_000))
    return [
      {
        kind: 'prepare-approval',
        actions: params.renewActions,
        days: params.renewDays,
        reason: isShort
          ? `The approval has ${approval.remainingActions} actions left, and closing everything needs ${approval.neededActions}.`
          : `The approval ends in ${hours} h.`,
        facts: { remainingActions: approval.remainingActions, hoursLeft: hours },
      },
    ]
  },
  status({ approval, params, snapshot }) {
    if (approval === undefined) return { text: "the account's own key signs: there is no approval to renew" }
    const spare = approval.remainingActions - approval.neededActions
    const hoursLeft = Math.max(0, Math.floor((approval.expiresAtSeconds * 1_000 - snapshot.atMs) / 3_600_000))
    const text = `${spare} spare actions and ${hoursLeft} h left, renews at ${params.actionsBelow} or ${params.secondsBelow / 3_600_000} h`
    return { text, facts: { spareActions: spare, hoursLeft } }
  },
})
