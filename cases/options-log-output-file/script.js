export default function () { console.log('hello'); console.warn('there'); }
