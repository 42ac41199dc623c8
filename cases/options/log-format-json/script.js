export default function () { console.log('hello'); console.error('bad'); }
