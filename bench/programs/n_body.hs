-- Planets under gravity, as records in a list.
data Body = Body { px, py, pz, vx, vy, vz, mass :: !Double }

main :: IO ()
main = print (energy (steps 100000 bodies))

bodies :: [Body]
bodies =
  [ Body 0 0 0 0 0 0 39.47, Body 4.84 (-1.16) (-0.10) 0.60 2.81 (-0.02) 0.037
  , Body 8.34 4.12 (-0.40) (-1.01) 1.82 0.008 0.011, Body 12.89 (-15.11) (-0.22) 1.08 0.86 (-0.01) 0.0017
  , Body 15.37 (-25.9) 0.17 0.97 0.59 (-0.03) 0.002 ]

steps :: Int -> [Body] -> [Body]
steps 0 bs = bs
steps n bs = steps (n - 1) (map (move . pull bs) bs)

pull :: [Body] -> Body -> Body
pull bs b = foldl attract b bs

attract :: Body -> Body -> Body
attract b o
  | d2 == 0 = b
  | otherwise = b { vx = vx b - dx * k, vy = vy b - dy * k, vz = vz b - dz * k }
  where
    dx = px b - px o
    dy = py b - py o
    dz = pz b - pz o
    d2 = dx * dx + dy * dy + dz * dz
    k = mass o * 0.001 / (d2 * sqrt d2)

move :: Body -> Body
move b = b { px = px b + 0.001 * vx b, py = py b + 0.001 * vy b, pz = pz b + 0.001 * vz b }

energy :: [Body] -> Double
energy bs = sum [0.5 * mass b * (vx b * vx b + vy b * vy b + vz b * vz b) | b <- bs]
