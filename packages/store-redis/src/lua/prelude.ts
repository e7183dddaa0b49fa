/**
 * The beginning of all scripts. Every script is given two keys, and the second one, `base`, never exists: while Redis
 * Cluster moves a slot key by key, scripts would see one half of a shard, and a missing key among several is what makes
 * Redis refuse them (TRYAGAIN) until the slot has moved. All other keys are made from `base` and lie in the same slot.
 *
 * - `task:<name>` hash: `row` (JSON), `rev` (its revision), `snapshot`, `from` (its version), `once:<key>` (a position)
 * - `log:<name>` list: commit id, NUL, fact
 * - `hooks:<name>` hash: of each webhook, `w<id>` (JSON) and `r<id>` (its revision)
 * - sorted by their scores: `list:<scope> <state>`, `context:<scope> <context> <state>` and `term:<scope> <term> <state>`
 *   (parted by NUL), task ids by statusAt; `waiting:<queue>`, `due:<queue>`, `left:<queue>`, `turns:<queue> <scope>`, `ended`, names by the column of the row;
 *   `asked:<queue> <state>`, names of tasks that ask, by statusAt; `later:<queue>`, names of turns that are postponed, by dueAt;
 *   `deliver:<queue>`, webhooks by readyAt
 * - sorted by text: `held:<holder>` names; `dead:<queue>` webhooks
 * - `callers:<queue>` set: scopes that have tasks in `turns`
 * - `queue:<queue>` hash: `turns`, `rev`; `served:<queue>` sorted by their last turn: scopes
 * - `record:<name>` hash: `row` (JSON), `rev` (its revision); `records` and `records-of:<scope>` sorted by text: names; `record-ends`
 *   sorted by the end of their time: names
 * - `bucket:<name>`: when a bucket is full, until then
 * - `frozen`: while it is there, nothing is written
 * - `probe`: written to check that keys can be written
 *
 * A name is a task id, NUL and a scope; no id contains NUL. Times are milliseconds since 1970.
 */
export const prelude = `
local call, base, NUL = redis.call, KEYS[2], '\\0'
local time = call('TIME')
local now = string.format('%.3f', time[1] * 1000 + time[2] / 1000)
`;
