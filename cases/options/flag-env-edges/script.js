export default function () { for (const name of ['EMPTY', 'NONE', 'EQUALS', 'TWICE', 'OTHER', 'MISSING']) console.log(name, JSON.stringify(__ENV[name])); }
