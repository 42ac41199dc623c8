export default function () { console.log(__ENV.FROM_OUTSIDE); }
