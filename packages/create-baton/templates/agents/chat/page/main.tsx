import { connect } from '@batonjs/client';
import { Chat, FORM_INPUT } from '@batonjs/react/chat';
import { createRoot } from 'react-dom/client';

// The page and the agent have one origin.
const agent = await connect(new URL('/', location.href), { extensions: [FORM_INPUT] });
const root = document.getElementById('root');
if (root) createRoot(root).render(<Chat agent={agent} />);
