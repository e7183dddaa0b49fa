'use client';

import { type AgentClient, connect } from '@batonjs/client';
import { Chat, FORM_INPUT } from '@batonjs/react/chat';
import { useEffect, useState } from 'react';

export default function Page() {
  const [agent, setAgent] = useState<AgentClient>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    // The page and the agent have one origin: the browser sends the cookie of the session.
    connect(new URL('/api/agent', location.href), { extensions: [FORM_INPUT] }).then(
      setAgent,
      ({ message }) => setProblem(message),
    );
  }, []);
  return <main>{problem ? <p role="alert">{problem}</p> : <Chat agent={agent} />}</main>;
}
