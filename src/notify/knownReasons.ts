/**
 * Reasons that services give, as far as they are known. What a service writes may repeat an address, a token or a text of ours, so nothing
 * of an answer is quoted: it is looked through for these phrases, and the phrase that is in it is reported in our own spelling.
 */

/** Phrases, the longer ones of a kind first: the first that is in an answer is its reason. */
const phrases: readonly string[] = [
  // Telegram
  'bot was blocked by the user',
  'bot was kicked from the supergroup chat',
  'bot was kicked from the group chat',
  'bot was kicked from the channel chat',
  'bot is not a member of the supergroup chat',
  'bot is not a member of the group chat',
  'bot is not a member of the channel chat',
  "bot can't initiate conversation with a user",
  "bots can't send messages to bots",
  'user is deactivated',
  'group chat was upgraded to a supergroup chat',
  'chat not found',
  'message thread not found',
  'not enough rights to send text messages to the chat',
  'have no rights to send a message',
  'need administrator rights in the channel chat',
  'CHAT_WRITE_FORBIDDEN',
  'TOPIC_CLOSED',
  'message text is empty',
  'message is too long',
  'chat_id is empty',
  'terminated by other getUpdates request',
  "can't use getUpdates method while webhook is active",
  // Discord
  'Unknown Webhook',
  'Invalid Webhook Token',
  'Cannot send an empty message',
  // Slack
  'invalid_payload',
  'invalid_token',
  'channel_not_found',
  'channel_is_archived',
  'user_not_found',
  'action_prohibited',
  'posting_to_general_channel_denied',
  'team_disabled',
  'no_service',
  'no_team',
  'no_text',
  // Any of them
  'limit reached',
  'rate limited',
  'Too Many Requests',
  'Unauthorized',
  'Forbidden',
  'Not Found',
]

/** Longest part of an answer that is looked at, characters. */
const LONGEST_ANSWER = 2_000

/** Gives why a service refused: its status, with the known phrase that its answer holds. */
export function reasonOfAnswer(status: number, text: string): string {
  const said = text.slice(0, LONGEST_ANSWER).toLowerCase()
  const phrase = phrases.find((each) => said.includes(each.toLowerCase()))
  return `it responded ${status}${phrase === undefined ? '' : `: ${phrase}`}`
}

/** Reads whether an answer says by itself that nothing was done, as Telegram and Slack do with `ok`, whatever its status is. */
export function saysNotOk(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'ok' in value && value.ok === false
  } catch {
    return false
  }
}
