import type { ReactNode } from 'react';
import './page.css';

export const metadata = { title: '{{title}}' };
export const viewport = { interactiveWidget: 'resizes-content' } as const;

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
