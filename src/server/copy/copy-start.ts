import { part } from './copy-parts-loader.ts';

// The page is a part too, and so a third of its size. The policy of the document names its hash.
void part('page').then((page) => {
  const script = document.createElement('script');
  script.textContent = page;
  document.head.append(script);
});
