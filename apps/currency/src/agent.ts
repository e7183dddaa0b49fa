import { type Agent, artifact, completed, data, inputRequired, text } from '@batonjs/server';
import { phrasesFor } from './phrases.ts';
import { convert, ratesAsOf } from './rates.ts';
import { isComplete, readRequest } from './request.ts';

/** Converts an amount from one currency to another. Asks for missing details in the language of the user. */
export const convertMoney: Agent = async function* ({ messages }) {
  const request = readRequest(messages);
  const say = phrasesFor(messages);
  if (!isComplete(request)) return yield inputRequired(say.questionAbout(request));

  const { amount, from, to } = request;
  const result = convert(amount, from, to);
  if (!Number.isFinite(result)) return yield inputRequired(say.tooMuch);

  const answer = say.conversion({ amount, from, to, result });
  yield artifact('conversion', text(answer), data({ amount, from, to, result, ratesAsOf }));
  yield completed(answer);
};
