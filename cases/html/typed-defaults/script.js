import { parseHTML } from 'k6/html';
const asked = {
  a: ['referrerPolicy'], img: ['crossOrigin', 'referrerPolicy', 'width', 'height'], link: ['crossOrigin', 'referrerPolicy'], script: ['crossOrigin'], meta: ['httpEquiv'],
  ol: ['start', 'type'], li: ['type', 'value'], style: ['type'], track: ['kind'], textarea: ['cols', 'maxLength', 'form'], input: ['list', 'form', 'size'],
  label: ['control', 'form'], option: ['form', 'index'], th: ['scope', 'colSpan'], col: ['span'], meter: ['min', 'high'],
};
const attributes = ['referrerpolicy', 'crossorigin', 'http-equiv', 'start', 'type', 'kind', 'cols', 'maxlength', 'list', 'form', 'for', 'id', 'scope', 'colspan', 'span', 'width', 'height', 'value', 'size', 'min', 'high'];
const values = [null, '', 'abc', '5', '-1', '0', ' 7 ', '+4', '3.7', 'text/plain', 'anonymous', 'Anonymous', 'origin', 'same-origin', 'row', 'ROW', 'rowgroup', 'A', 'disc', 'captions', 'subtitles', 'refresh', 'Refresh'];
export default function () {
  for (const [tag, methods] of Object.entries(asked)) {
    for (const value of values) {
      const written = value === null ? '' : attributes.map((name) => `${name}="${value}"`).join(' ');
      let page = `<${tag} ${written}>x`;
      if (tag === 'th') page = `<table><tr>${page}`;
      if (tag === 'col') page = `<table>${page}`;
      const element = parseHTML(page).find(tag).get(0);
      const results = methods.map((method) => {
        const result = element[method]();
        return result && result.nodeName ? result.nodeName() : JSON.stringify(result);
      });
      console.log(tag, JSON.stringify(value), results.join());
    }
  }
}
