export default function () { console.log('never'); }
