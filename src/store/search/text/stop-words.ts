/** English stop words, including question words. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are aren as at be because been before being below
  between both but by can cannot cant could couldn d did didn didnt do does doesn doesnt doing don done
  dont down during each etc ever for from further get gets getting give given gives go had hadn has hasn
  have haven having he her here hers herself him himself his how i if im in into is isn isnt it its itself
  ive just kind let ll m make may me might more most much must my myself need no nor not now of off on
  once one only or other ought our ours ourselves out over own please re s same shall she should so some
  such t than that thats the their theirs them themselves then there these they this those through to too
  under until up upon us use used uses using ve very want wants was wasn way we were weren what whats when
  where which while who whom whose why will with without won would wouldn y you your yours yourself
  yourselves`.split(/\s+/),
);
