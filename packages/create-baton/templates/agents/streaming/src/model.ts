/** Gives the answer to a prompt, piece by piece. */
export type Model = (prompt: string, signal: AbortSignal) => AsyncIterable<string>;

/**
 * The model of an API like OpenAI's, such as `MODEL_URL=http://127.0.0.1:11434/v1` of Ollama, with `MODEL_NAME` and
 * `MODEL_API_KEY`. Without `MODEL_URL`, one that says again what it was told.
 */
export function modelFrom({
  MODEL_URL,
  MODEL_NAME = '',
  MODEL_API_KEY,
}: Readonly<Record<string, string | undefined>>): Model {
  if (!MODEL_URL) return echo;
  return async function* (prompt, signal) {
    const response = await fetch(`${MODEL_URL}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(MODEL_API_KEY && { authorization: `Bearer ${MODEL_API_KEY}` }),
      },
      body: JSON.stringify({
        model: MODEL_NAME,
        stream: true,
        messages: [{ role: 'user', content: prompt }],
      }),
      signal,
    });
    if (!response.ok || !response.body) throw new Error(`The model answered ${response.status}`);
    let isWhole = false;
    for await (const line of lines(response.body)) {
      if (!line.startsWith('data:')) continue;
      const data = line.slice('data:'.length).trim();
      if (data === '[DONE]') {
        isWhole = true;
        continue;
      }
      const { error, choices: [choice] = [] } = JSON.parse(data);
      if (error) throw new Error(`The model failed: ${JSON.stringify(error)}`);
      yield choice?.delta?.content ?? '';
      const reason = choice?.finish_reason;
      if (reason === 'length' || reason === 'content_filter')
        throw new Error(`The answer of the model ended early: ${reason}`);
    }
    if (!isWhole) throw new Error('The answer of the model ended early');
  };
}

const echo: Model = async function* (prompt) {
  for (const word of `You said: ${prompt}`.split(/(?<= )/)) yield word;
};

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const found = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = found.pop() ?? '';
    yield* found;
  }
  yield rest;
}
