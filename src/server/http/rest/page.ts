import { isObject, type JsonObject, type JsonValue } from '../../../core/values/json.ts';

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:2.5rem;border-top:1px solid #8884;padding-top:1rem}
code,pre{font:14px/1.4 ui-monospace,monospace}
pre{background:#8881;padding:.8rem;overflow:auto;border-radius:.3rem}
.method{text-transform:uppercase}
:root{color-scheme:light dark}`;

/** Renders an OpenAPI description as an HTML page for people, without any other file. */
export function renderPage(description: JsonObject): string {
  const { title, version, description: about } = object(description.info);
  const operations = Object.entries(object(description.paths)).flatMap(([path, methods]) =>
    Object.entries(object(methods)).map(([method, operation]) =>
      section(method, path, object(operation)),
    ),
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${text(title)} API</title>
<style>${style}</style>
<h1>${text(title)} API ${text(version)}</h1>
<p>${text(about)}</p>
<p>For programs: <a href="openapi.json">openapi.json</a>.
Send an API key as <code>Authorization: Bearer &lt;key&gt;</code>.</p>
${operations.join('\n')}
</html>
`;
}

function section(method: string, path: string, operation: JsonObject): string {
  const request = contentOf(object(operation.requestBody));
  const answer = contentOf(object(object(operation.responses)['200']));
  return [
    `<h2 id="${text(operation.operationId)}"><code><span class="method">${text(method)}</span> ${text(path)}</code></h2>`,
    `<p>${text(operation.summary)}${operation.security ? ' Needs no key.' : ''}</p>`,
    request && `<h3>Body</h3>\n<pre>${text(JSON.stringify(request, null, 2))}</pre>`,
    answer && `<h3>Answer</h3>\n<pre>${text(JSON.stringify(answer, null, 2))}</pre>`,
  ]
    .filter((part) => part !== undefined)
    .join('\n');
}

function contentOf(message: JsonObject): JsonValue | undefined {
  return object(object(message.content)['application/json']).schema;
}

function object(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function text(value: JsonValue | undefined): string {
  return String(value ?? '').replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
