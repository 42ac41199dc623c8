for (const path of [undefined, null, 5, {}, [], ['data.txt'], '', ' data.txt', 'data.txt ', 'DATA.TXT', './', '..']) {
  try { const text = open(path); if (__VU === 0) console.log(JSON.stringify(path), text.length); } catch (e) { if (__VU === 0) console.log(JSON.stringify(path), 'threw', e.name); }
}
export default function () {}
