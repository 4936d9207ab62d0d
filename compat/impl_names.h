#pragma once

#include <halfgrad/compat/names.h>

#include <halfgrad/compat/layers.h>
#include <halfgrad/compat/loss_layers.h>
#include <halfgrad/compat/module_dict.h>
#include <halfgrad/compat/module_list.h>
#include <halfgrad/compat/parameter_list.h>
#include <halfgrad/nn/nn.h>

/// libtorch's names for the classes that its holders point to. A layer of halfgrad is both.
namespace halfgrad::nn {

using AlphaDropoutImpl = AlphaDropout;
using BCELossImpl = BCELoss;
using BCEWithLogitsLossImpl = BCEWithLogitsLoss;
using BatchNorm1dImpl = BatchNorm1d;
using BilinearImpl = Bilinear;
using CELUImpl = CELU;
using CrossEntropyLossImpl = CrossEntropyLoss;
using Dropout2dImpl = Dropout2d;
using Dropout3dImpl = Dropout3d;
using DropoutImpl = Dropout;
using ELUImpl = ELU;
using EmbeddingBagImpl = EmbeddingBag;
using EmbeddingImpl = Embedding;
using FlattenImpl = Flatten;
using GELUImpl = GELU;
using GLUImpl = GLU;
using GroupNormImpl = GroupNorm;
using HardtanhImpl = Hardtanh;
using HuberLossImpl = HuberLoss;
using IdentityImpl = Identity;
using KLDivLossImpl = KLDivLoss;
using L1LossImpl = L1Loss;
using LayerNormImpl = LayerNorm;
using LeakyReLUImpl = LeakyReLU;
using LinearImpl = Linear;
using LogSigmoidImpl = LogSigmoid;
using LogSoftmaxImpl = LogSoftmax;
using MSELossImpl = MSELoss;
using ModuleDictImpl = ModuleDict;
using ModuleListImpl = ModuleList;
using MultiheadAttentionImpl = MultiheadAttention;
using NLLLossImpl = NLLLoss;
using PReLUImpl = PReLU;
using ParameterDictImpl = ParameterDict;
using ParameterListImpl = ParameterList;
using ReLU6Impl = ReLU6;
using ReLUImpl = ReLU;
using SELUImpl = SELU;
using SequentialImpl = Sequential;
using SiLUImpl = SiLU;
using SigmoidImpl = Sigmoid;
using SmoothL1LossImpl = SmoothL1Loss;
using SoftmaxImpl = Softmax;
using SoftplusImpl = Softplus;
using TanhImpl = Tanh;
using TransformerDecoderImpl = TransformerDecoder;
using TransformerDecoderLayerImpl = TransformerDecoderLayer;
using TransformerEncoderImpl = TransformerEncoder;
using TransformerEncoderLayerImpl = TransformerEncoderLayer;
using TransformerImpl = Transformer;
using UnflattenImpl = Unflatten;

}  // namespace halfgrad::nn
