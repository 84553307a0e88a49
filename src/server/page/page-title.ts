import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { markedText } from './hidden-marks.tsx';

/** The name of the project; empty until it is known. */
export const ProjectName = createContext('');

/** Sets the title of the tab: the subject of the page, then the project. */
export function useTitle(...parts: readonly (string | false | null | undefined)[]): void {
  const project = useContext(ProjectName) || 'Memory Bank';
  const title = markedText([...parts, project].filter(Boolean).join(' · '));
  useEffect(() => {
    document.title = title;
  }, [title]);
}
