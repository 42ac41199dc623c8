export default function () { console.log('hello'); }
