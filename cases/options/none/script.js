export default function () { console.log('once'); }
